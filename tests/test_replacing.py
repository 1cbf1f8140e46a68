"""A file takes the place of another at once, or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ontoref.replacing import replacing


def put(path: Path, content: bytes, mode: int | None = None) -> None:
    with replacing(str(path), mode=mode) as aside, open(aside, "wb") as file:
        file.write(content)


@pytest.mark.parametrize(
    ("before", "asked", "after"), [(0o640, None, 0o640), (0o644, 0o755, 0o755), (None, 0o600, 0o600)]
)
def test_rights_stay_or_are_those_asked_for(tmp_path: Path, before: int | None, asked: int | None, after: int) -> None:
    path = tmp_path / "a"
    if before is not None:
        path.write_bytes(b"old")
        path.chmod(before)
    put(path, b"new", asked)
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", after)
    assert os.listdir(tmp_path) == ["a"]


def test_a_new_file_has_the_rights_that_any_new_file_has(tmp_path: Path) -> None:
    put(tmp_path / "a", b"")
    (tmp_path / "b").write_bytes(b"")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "a").write_bytes(b"old")
    (tmp_path / "link").symlink_to("far/a")
    put(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "far" / "a").read_bytes() == b"new"


def test_a_failure_leaves_what_was(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def fail() -> None:
        with replacing(str(path)) as aside:
            Path(aside).write_bytes(b"half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert path.read_bytes() == b"old"
    with pytest.raises(FileNotFoundError), replacing(str(tmp_path / "none" / "a")):
        pass
    assert os.listdir(tmp_path) == ["a"]


def test_a_name_as_long_as_names_can_be(tmp_path: Path) -> None:
    path = tmp_path / ("ü" * 120)
    put(path, b"new")
    assert path.read_bytes() == b"new"
