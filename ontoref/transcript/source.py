"""Where a transcript's lines come from: a file, a compressed file, a file that is still being written."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import IO, Any, Protocol

from ontoref.errors import MissingExtra, OntorefError

__all__ = [
    "Folder",
    "Head",
    "Memory",
    "SideFiles",
    "Source",
    "TranscriptError",
    "UnknownFormat",
    "blocks_of",
    "follow",
    "half_a_second",
    "lines_of",
]

_BUFFER_BYTES = 1 << 20
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


class TranscriptError(OntorefError):
    """A transcript cannot be read at all, or nobody knows its format."""

    kind = "transcript"


class SideFiles(Protocol):
    """The files beside a transcript, from a live folder or from an archive.

    Shape: names are relative to the transcript's folder, with `/`; they may begin with `../`.
    """

    def read(self, name: str) -> bytes | None:
        """Content of one file, None if it is not there or cannot be read."""

    def names(self, folder: str) -> list[str]:
        """Names of the files in a folder (`""`: the transcript's own), sorted; [] without it."""


class UnknownFormat(TranscriptError):
    """No reader knows a file's format: it may be no transcript at all."""


@dataclass(frozen=True, slots=True)
class Folder:
    """Side files of a live folder."""

    path: str

    def read(self, name: str) -> bytes | None:
        try:
            with open(os.path.join(self.path, *name.split("/")), "rb") as file:
                return file.read()
        except (OSError, ValueError):
            return None

    def names(self, folder: str) -> list[str]:
        try:
            found = sorted(os.listdir(os.path.join(self.path, *folder.split("/"))))
        except (OSError, ValueError):
            return []
        return [f"{folder}/{name}" if folder else name for name in found]


@dataclass(frozen=True, slots=True)
class Memory:
    """Side files as an archive has them: {name: content}."""

    files: Mapping[str, bytes] = field(default_factory=dict)

    def read(self, name: str) -> bytes | None:
        return self.files.get(name)

    def names(self, folder: str) -> list[str]:
        prefix = f"{folder}/" if folder else ""
        return sorted(n for n in self.files if n.startswith(prefix) and "/" not in n[len(prefix) :])


@dataclass(frozen=True, slots=True)
class Source:
    """A transcript's lines with the name they were found under.

    Shape: name is the path as far as it is known (`agents/main/sessions/x.jsonl`), with `/`; ids that the
           lines lack are taken from it. lines are byte strings cut at 0x0A, the line end still on them or
           not; None among them means that nothing more is there for now (a followed file), so that a reader
           gives out what it holds back. open is true while the last line may still be half written.
    """

    name: str
    lines: Iterable[bytes | None]
    side: SideFiles = field(default_factory=Memory)
    open: bool = False

    @property
    def stem(self) -> str:
        """The file's name without folders and without everything from `.jsonl` or `.json` on."""
        name = self.name.rpartition("/")[2]
        for ending in (".jsonl", ".json", ".sqlite"):
            at = name.find(ending)
            if at > 0:
                return name[:at]
        return name


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of a transcript, by which its runtime is told.

    Shape: records are the JSON objects among the first lines, start the first bytes as they are.
    """

    name: str
    start: bytes
    records: tuple[dict[str, Any], ...]


def lines_of(path: str) -> Iterator[bytes]:
    r"""Lines of a file, cut at 0x0A only and with it; a final piece without one is a line too.

    Errors: OSError if it cannot be read, MissingExtra for a zstd file without the binding, TranscriptError
            for a damaged one.
    """
    with open(path, "rb", buffering=_BUFFER_BYTES) as file:
        if not _is_packed(file):
            yield from file
        else:
            yield from _unpacked(path, file, iter)


def blocks_of(path: str) -> Iterator[bytes]:
    """The same bytes, cut anywhere. Errors: as `lines_of`."""
    with open(path, "rb", buffering=0) as file:
        yield from _unpacked(path, file, _blocks) if _is_packed(file) else _blocks(file)


def _blocks(file: IO[bytes]) -> Iterator[bytes]:
    while block := file.read(_BUFFER_BYTES):
        yield block


def _is_packed(file: IO[bytes]) -> bool:
    start = file.read(4)
    file.seek(0)
    return start == _ZSTD_MAGIC


def _unpacked(path: str, file: IO[bytes], pieces: Callable[[IO[bytes]], Iterator[bytes]]) -> Iterator[bytes]:
    import io

    try:
        import zstandard
    except ImportError:
        raise MissingExtra("zstd", "zstandard") from None
    try:
        # A rollout may be several frames, one for each time it was appended to.
        reader = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
        yield from pieces(io.BufferedReader(reader, _BUFFER_BYTES))
    except zstandard.ZstdError as error:
        raise TranscriptError(f"the compressed file is damaged: {error}", location=path) from None


def follow(path: str, *, wait: Callable[[], bool] | None = None) -> Iterator[bytes | None]:
    """Lines of a file that is still being written, as they come; None whenever there is nothing new.

    Shape: a line is given once its 0x0A is there; the place after the last one is remembered, never the
           file's size. wait sleeps until it is worth looking again and says whether to go on (default: half
           a second, for ever). A file that became shorter or another one is read from its start. At the end
           the unterminated rest is given as it is.
    """
    pause = wait or half_a_second
    file: IO[bytes] = open(path, "rb", buffering=0)  # noqa: SIM115 - it is replaced when the path names another file
    try:
        tail = bytearray()
        while True:
            piece = file.read(_BUFFER_BYTES)
            if piece:
                tail += piece
                end = tail.rfind(b"\n")
                if end >= 0:
                    whole = bytes(tail[: end + 1])
                    del tail[: end + 1]
                    for line in whole.split(b"\n")[:-1]:
                        yield line + b"\n"
                continue
            yield None
            if not pause():
                break
            fresh = _replaced(path, file)
            if fresh is not None:
                file.close()
                file = fresh
                tail.clear()
        if tail:
            yield bytes(tail)
    finally:
        file.close()


def half_a_second() -> bool:
    """Wait as long as a person does not notice; always says to go on."""
    time.sleep(0.5)
    return True


def _replaced(path: str, file: IO[bytes]) -> IO[bytes] | None:
    """The file that now has the name, opened, if it is another one or became shorter than what was read."""
    held = os.fstat(file.fileno())
    try:
        now = os.stat(path)
    except OSError:
        return None
    if (now.st_dev, now.st_ino) == (held.st_dev, held.st_ino) and now.st_size >= file.tell():
        return None
    try:
        return open(path, "rb", buffering=0)
    except OSError:
        return None
