"""Which machine this is, and whether a process of it still lives."""

from __future__ import annotations

import os
import socket
import sys

__all__ = ["machine", "process_is_gone", "process_started"]


def machine() -> str:
    """Names this machine since its last start, and this container of it: where a process number means something."""
    return "/".join((socket.gethostname(), _boot(), _namespace()))


def _boot() -> str:
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return "-"


def _namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return "-"


def process_started(pid: int) -> str:
    """When a process began, in the kernel's own words; "" where that cannot be asked."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[19].decode("ascii")
    except (OSError, IndexError):
        return ""


def process_is_gone(pid: int, started: str = "") -> bool:
    """Whether no process of this machine has that number, or it began at another time. Unknown: False."""
    if sys.platform == "win32":
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    now = process_started(pid)
    return bool(now and started and now != started)
