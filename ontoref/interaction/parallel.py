"""The same work on several shares at once, each in a process of its own, in two steps."""

from __future__ import annotations

import marshal
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, Generic, TypeVar

from ontoref.errors import OntorefError
from ontoref.interaction.spill import read_batches, write_batches

__all__ = ["Crew", "spread", "usable_cores"]

Share = TypeVar("Share")
# What a worker calls to get what the crew was told; what it yields, first of all its report.
Work = Callable[[Share, Callable[[], Any]], Iterator[Any]]


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


class Crew(Generic[Share]):
    """Workers that report, are told something, and then answer.

    Shape:  the first share is worked on in this process, when its iterator is asked; the others at once, in
            processes of their own. What is told and yielded is plain data: numbers, texts, bytes, tuples, lists,
            sets, dicts.
    Errors: an OSError or OntorefError of a worker is raised by its iterator.
    """

    def __init__(self, shares: Sequence[Share], work: Work[Share]) -> None:
        self._message: Any = None
        self._pipes: list[int] = []
        others = [self._fork(share, work) for share in shares[1:]]
        self.answers: list[Iterator[Any]] = [work(shares[0], lambda: self._message), *others] if shares else []

    def reports(self) -> list[Any]:
        """The first thing that each worker yields."""
        return [next(answers) for answers in self.answers]

    def tell(self, message: Any) -> None:
        """Let the workers go on."""
        self._message = message
        data = marshal.dumps(message)
        for pipe in self._pipes:
            # Who never asks may be gone by now; whether that is a fault its answers say.
            with suppress(BrokenPipeError), open(pipe, "wb") as file:
                file.write(data)
        self._pipes.clear()

    def _fork(self, share: Share, work: Work[Share]) -> Iterator[Any]:
        reading, writing = os.pipe()
        hearing, telling = os.pipe()
        child = os.fork()
        if child == 0:
            # The child leaves by _exit: what stands in buffers of ours is the parent's to flush.
            code = 1
            try:
                for descriptor in (reading, telling, *self._pipes):
                    os.close(descriptor)
                with open(writing, "wb", buffering=1 << 16) as pipe:
                    _answer(pipe, work(share, lambda: _hear(hearing)))
                code = 0
            finally:
                os._exit(code)
        os.close(writing)
        os.close(hearing)
        self._pipes.append(telling)
        return _received(reading, child)


def spread(shares: Sequence[Share], work: Callable[[Share], Iterator[Any]]) -> list[Iterator[Any]]:
    """What work yields for each share, in the order of the shares; for work that needs to be told nothing.

    Errors: as `Crew`.
    """
    crew = Crew(shares, lambda share, _: work(share))
    crew.tell(None)
    return crew.answers


def _hear(descriptor: int) -> Any:
    with open(descriptor, "rb") as file:
        return marshal.loads(file.read())


def _answer(pipe: Any, answers: Iterator[Any]) -> None:
    try:
        # The report is waited for, so it goes at once.
        write_batches(pipe, ((None, item) for item in islice(answers, 1)))
        pipe.flush()
        write_batches(pipe, ((None, item) for item in answers))
    except OSError as error:
        write_batches(pipe, [("os", (error.errno, error.strerror, error.filename))])
    except OntorefError as error:
        write_batches(pipe, [("ours", str(error))])


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
