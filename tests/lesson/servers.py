"""A PostgreSQL server of the tests' own: started in a temporary folder, reachable through a socket there."""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

__all__ = ["Server", "binaries"]


def binaries() -> str | None:
    """The folder with initdb and pg_ctl, None where PostgreSQL is not installed."""
    found = shutil.which("initdb")
    folders = [os.path.dirname(found)] if found else sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True)
    return next((folder for folder in folders if os.path.exists(os.path.join(folder, "pg_ctl"))), None)


class Server:
    """A private cluster. PostgreSQL refuses to run as root, so then it runs as the user `postgres`."""

    def __init__(self, folder: Path, bin_folder: str) -> None:
        self.folder = folder
        self.bin = bin_folder
        self.data = folder / "data"
        self.as_other = ["runuser", "-u", "postgres", "--"] if sys.platform != "win32" and os.geteuid() == 0 else []
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o711)
        self.data.mkdir(mode=0o700)
        if self.as_other:
            shutil.chown(self.data, "postgres")
            shutil.chown(folder, "postgres")
        self._run("initdb", "-D", str(self.data), "-U", "tester", "-A", "trust", "-E", "UTF8", "--no-sync")
        with open(self.data / "postgresql.conf", "a", encoding="ascii") as file:
            file.write(
                f"listen_addresses = ''\nunix_socket_directories = '{folder}'\nfsync = off\n"
                "full_page_writes = off\nmax_connections = 30\n"
            )

    @property
    def url(self) -> str:
        return f"postgresql://tester:not-a-real-password@/postgres?host={self.folder}"

    def start(self) -> None:
        self._run("pg_ctl", "-D", str(self.data), "-w", "-t", "60", "-l", str(self.data / "log"), "start")

    def stop(self, mode: str = "immediate") -> None:
        if (self.data / "postmaster.pid").exists():
            self._run("pg_ctl", "-D", str(self.data), "-w", "-m", mode, "stop")

    def restart(self) -> None:
        self.stop()
        time.sleep(0.05)
        self.start()

    def _run(self, name: str, *words: str) -> None:
        done = subprocess.run(
            [*self.as_other, os.path.join(self.bin, name), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd=self.folder,
            env={**os.environ, "LC_ALL": "C", "PGDATA": ""},
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, f"{name}: {done.stderr.decode(errors='replace')}"
