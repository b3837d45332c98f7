"""A file is replaced completely or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from course.models.write_file import PRIVATE, open_replacement, write_file


def test_a_file_is_written_replaced_and_deleted_with_its_folder_made(tmp_path):
    path = tmp_path / "below" / "notes.txt"
    for content in ("zoë", b"\xff\n"):
        write_file(path, content)
        assert path.read_bytes() == (content if isinstance(content, bytes) else content.encode())
        assert list(path.parent.iterdir()) == [path]
    for _ in range(2):
        write_file(path, None)
        assert not path.exists()


def test_permissions_are_those_asked_for_those_before_or_what_the_umask_leaves(tmp_path):
    path, before = tmp_path / "notes.txt", os.umask(0o027)
    try:
        for mode, expected in ((None, 0o640), (0o644, 0o644), (None, 0o644), (PRIVATE, 0o600), (None, 0o600)):
            write_file(path, "", mode)
            assert path.stat().st_mode & 0o777 == expected
    finally:
        os.umask(before)


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_after_an_error_the_old_file_is_there_and_no_other(tmp_path: Path, error: type[BaseException]):
    path = tmp_path / "notes.txt"
    path.write_text("old")

    def breaks_off() -> None:
        with open_replacement(path) as file:
            file.write(b"half of the n")
            raise error

    with pytest.raises(error):
        breaks_off()
    assert [(entry.name, entry.read_text()) for entry in tmp_path.iterdir()] == [("notes.txt", "old")]


def test_a_link_is_replaced_and_its_target_is_left_alone(tmp_path):
    target, path = tmp_path / "target", tmp_path / "link"
    target.write_text("theirs")
    target.chmod(0o777)
    path.symlink_to(target)
    write_file(path, "mine")
    assert not path.is_symlink() and target.read_text() == "theirs" and path.stat().st_mode & 0o111 == 0
