"""The entry point: runs a command and turns what went wrong into one exit code and one message."""

from __future__ import annotations

import gc
import io
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click

__all__ = ["main", "run"]


# New objects before the collector looks for cycles among them: 700 by default, which every start-up passes many times.
_COLLECT_AFTER = 50_000


def main() -> None:
    """Run the command line in sys.argv and exit with its code."""
    gc.set_threshold(_COLLECT_AFTER)
    _open_what_is_closed()
    _buffer_what_is_not()
    code = run(sys.argv[1:])
    # What still lives goes with the process; it need not be walked through before.
    gc.freeze()
    sys.exit(code)


def _open_what_is_closed() -> None:
    """Give each standard stream that our caller closed to the null device: no file of ours may take its number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 it lives as long as we do


def _buffer_what_is_not() -> None:
    """Give each standard stream that PYTHONUNBUFFERED left without one a buffer.

    Without it a write that the system cuts short, as it does when a process is stopped and goes on, is not finished.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(raw := getattr(stream, "buffer", None), io.RawIOBase):
            buffered = io.BufferedWriter(raw)
            setattr(sys, name, io.TextIOWrapper(buffered, stream.encoding, stream.errors, line_buffering=True))


def run(arguments: Sequence[str]) -> int:
    """Run one command line. Returns 0 yes, 1 no, 2 could not run, 3 a bug of ours, 130 interrupted."""
    if "_ONTOREF_COMPLETE" in os.environ:
        from ontoref.cli.shells import VARIABLE, answer

        return answer(_root(), os.environ[VARIABLE])
    import click

    from ontoref.errors import OntorefError

    as_json = _wants_json(arguments)
    out = sys.stdout
    try:
        code = _root().main(list(arguments), prog_name="ontoref", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except BrokenPipeError:
        # Whoever read our output has seen enough. The descriptor is pointed elsewhere so that the
        # interpreter's own flush at exit does not complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except SystemExit as stop:
        # click leaves so, with streams of its own, once a write meets a closed pipe: the same success.
        if sys.stdout is not out:
            return 0
        return stop.code if isinstance(stop.code, int) else 1
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.ctx.get_help())
        return 2
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.ClickException as error:
        hint = None
        if isinstance(error, click.UsageError) and error.ctx is not None:
            hint = f"see `{error.ctx.command_path} --help`"
        _complain(as_json, "usage", error.format_message(), hint, None)
        return 2
    except (click.Abort, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)
        return 130
    except OntorefError as error:
        _complain(as_json, error.kind, error.message, error.hint, error.location)
        return error.exit_code
    except OSError as error:
        name = error.filename if isinstance(error.filename, str) else None
        _complain(as_json, "io", error.strerror or str(error), None, name)
        return 2
    except Exception as error:
        from ontoref.cli.crash import report

        report(error, arguments)
        return 3


def _root() -> click.Command:
    import click

    from ontoref.cli.commands import COMMANDS
    from ontoref.cli.lazy import Entry, build

    root = build(
        "ontoref",
        Entry("Typed records of what agents and people decided, did and found out.", commands=COMMANDS),
        epilog="Start with: ontoref init, then ontoref interaction template",
    )
    root.params.append(
        click.Option(
            ["--version"],
            is_flag=True,
            expose_value=False,
            is_eager=True,
            callback=_print_version,
            help="Print the version and exit.",
        )
    )
    return root


def _print_version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from ontoref import __version__

        print(f"ontoref {__version__}")
        ctx.exit()


def _wants_json(arguments: Sequence[str]) -> bool:
    """Whether errors shall be JSON. Read from the words, since a usage error comes before any parsing."""
    for word, following in zip(arguments, [*arguments[1:], ""], strict=False):
        if word == "--":
            return False
        if word.startswith("--format="):
            return word in ("--format=json", "--format=jsonl")
        if word == "--format":
            return following in ("json", "jsonl")
    return False


def _complain(as_json: bool, kind: str, message: str, hint: str | None, location: str | None) -> None:
    from ontoref.text import printable

    if as_json:
        import orjson

        body = {"kind": kind, "message": message, "hint": hint, "location": location}
        sys.stderr.write(orjson.dumps({"error": body}).decode() + "\n")
        return
    place = f"{printable(location)}: " if location else ""
    sys.stderr.write(f"error: {place}{printable(message, keep=chr(10))}\n")
    if hint:
        sys.stderr.write(f"    {printable(hint, keep=chr(10))}\n")
