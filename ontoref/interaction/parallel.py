"""The same work on several shares at once, each in a process of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from ontoref.errors import OntorefError
from ontoref.interaction.spill import read_batches, write_batches

__all__ = ["spread", "usable_cores"]

Share = TypeVar("Share")


class WorkerFailed(OntorefError):
    """A process that worked on a share of the log ended early."""

    kind = "worker"


def usable_cores() -> int:
    """Cores that this process may use; 1 where processes cannot be forked, since starting one anew costs more."""
    if not hasattr(os, "fork"):
        return 1
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def spread(shares: Sequence[Share], work: Callable[[Share], Iterator[Any]]) -> list[Iterator[Any]]:
    """What work yields for each share, in the order of the shares.

    Shape:  the first share is worked on here, when its iterator is first asked; the others elsewhere, at once.
            What is yielded is plain data: numbers, texts, bytes, tuples, lists, sets, dicts.
    Errors: an OSError or OntorefError of a worker is raised by its iterator.
    """
    if not shares:
        return []
    others = [_forked(share, work) for share in shares[1:]]
    return [work(shares[0]), *others]


def _forked(share: Share, work: Callable[[Share], Iterator[Any]]) -> Iterator[Any]:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        # The child leaves by _exit: what stands in buffers of ours is the parent's to flush.
        code = 1
        try:
            os.close(reading)
            with open(writing, "wb", buffering=1 << 16) as pipe:
                write_batches(pipe, _answers(share, work))
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    return _received(reading, child)


def _answers(share: Share, work: Callable[[Share], Iterator[Any]]) -> Iterator[Any]:
    try:
        for item in work(share):
            yield (None, item)
    except OSError as error:
        yield ("os", (error.errno, error.strerror, error.filename))
    except OntorefError as error:
        yield ("ours", str(error))


def _received(reading: int, child: int) -> Iterator[Any]:
    finished = False
    try:
        with open(reading, "rb", buffering=1 << 16) as pipe:
            for trouble, item in read_batches(pipe):
                if trouble == "os":
                    raise OSError(*item)
                if trouble == "ours":
                    raise WorkerFailed(item)
                yield item
        finished = True
    finally:
        _, status = os.waitpid(child, 0)
        if finished and status:
            raise WorkerFailed("a process that read a part of the log ended early", hint="try again with --jobs 1")
