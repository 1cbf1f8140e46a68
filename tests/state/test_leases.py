"""Leases: one holder, taken over when the holder is gone, noticed when lost."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ontoref.state import Layout, State
from ontoref.state.errors import LeaseHeld, LeaseLost
from ontoref.state.leases import STALE_MS, Owner, acquire, held, this_process

ELSEWHERE = Owner("elsewhere", "another-machine", 1, "0")


def test_a_held_lease_is_refused_with_its_scope_key_and_holder(state: State) -> None:
    """S3-56"""
    database = state.writable()
    with acquire(database, "import", "a", owner=this_process(), attempts=1):
        acquire(database, "import", "b", owner=this_process(), attempts=1)
        with pytest.raises(LeaseHeld, match=rf"import \(a\).*{os.getpid()}") as caught:
            acquire(database, "import", "a", owner=this_process(), attempts=1)
        assert (caught.value.scope, caught.value.key) == ("import", "a")
    acquire(database, "import", "a", owner=this_process(), attempts=1)


def test_an_expired_and_an_own_lease_are_taken(state: State) -> None:
    """S3-56, S3-59"""
    database = state.writable()
    acquire(database, "import", "a", owner=ELSEWHERE, now=1000)
    with pytest.raises(LeaseHeld):
        acquire(database, "import", "a", owner=this_process(), attempts=1, now=1000 + STALE_MS - 1)
    mine = this_process()
    acquire(database, "import", "a", owner=mine, attempts=1, now=1000 + STALE_MS)
    acquire(database, "import", "a", owner=mine, attempts=1, now=1001 + STALE_MS)


def test_releasing_a_lease_that_was_taken_over_does_nothing(state: State) -> None:
    """S3-57"""
    database = state.writable()
    lost = acquire(database, "import", "a", owner=ELSEWHERE, now=1000)
    acquire(database, "import", "a", owner=this_process(), attempts=1)
    lost.release()
    assert [lease.owner.pid for lease in held(database)] == [os.getpid()]


def test_a_lost_lease_is_noticed(state: State) -> None:
    """S3-58"""
    database = state.writable()
    lost = acquire(database, "import", "a", owner=ELSEWHERE, now=1000)
    lost.beat(now=2000, always=True)
    with pytest.raises(LeaseLost):
        lost.beat(now=2000 + STALE_MS, always=True)
    acquire(database, "import", "a", owner=this_process(), attempts=1)
    with pytest.raises(LeaseLost):
        lost.beat(now=3000, always=True)


def test_restore_waits_for_everything_and_everything_for_restore(state: State) -> None:
    database = state.writable()
    importing = acquire(database, "import", "a", owner=this_process())
    with pytest.raises(LeaseHeld, match="import"):
        acquire(database, "restore", owner=this_process(), attempts=1)
    importing.release()
    with acquire(database, "restore", owner=this_process(), attempts=1), pytest.raises(LeaseHeld, match="restore"):
        acquire(database, "import", "b", owner=this_process(), attempts=1)


HOLDER = """
import sys, time
from ontoref.state import Layout, State
from ontoref.state.leases import acquire, this_process
state = State(Layout(sys.argv[1]), read_only=False)
acquire(state.writable(), "import", "a", owner=this_process())
print("held", flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL")
def test_the_lease_of_a_killed_process_is_taken_at_once(state: State, layout: Layout) -> None:
    """S3-59"""
    child = subprocess.Popen([sys.executable, "-c", HOLDER, layout.root], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    with pytest.raises(LeaseHeld):
        acquire(state.writable(), "import", "a", owner=this_process(), attempts=1)
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    acquire(state.writable(), "import", "a", owner=this_process(), attempts=1)


def test_a_reused_process_number_is_not_the_old_owner(state: State) -> None:
    me = this_process()
    if not me.started:
        pytest.skip("this platform does not tell when a process began")
    acquire(state.writable(), "import", "a", owner=Owner("old", me.host, me.pid, "1"))
    acquire(state.writable(), "import", "a", owner=me, attempts=1)


def _count(root: str, counter: str) -> None:
    with State(Layout(root), read_only=False) as state:
        for _ in range(3):
            while True:
                try:
                    lease = acquire(state.writable(), "import", "counter", owner=this_process(), attempts=50)
                    break
                except LeaseHeld:
                    continue
            with lease:
                value = int(Path(counter).read_text())
                time.sleep(0.001)
                Path(counter).write_text(str(value + 1))


def test_twenty_processes_one_holder(layout: Layout, tmp_path: Path) -> None:
    """S3-55, S3-56"""
    counter = tmp_path / "counter"
    counter.write_text("0")
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_count, args=(layout.root, str(counter))) for _ in range(20)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
    assert [worker.exitcode for worker in workers] == [0] * 20
    assert counter.read_text() == "60"
    assert not list(tmp_path.rglob("*.lock"))
