"""No submission stops the others: whatever Mallory hands in, Jane's is collected.

All through the real `nbgrader zip_collect`.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from ...support.lms_downloads import moodle, notebook, tarred, zipped
from ...support.repository import ROOT
from ...support.two_exercise_course import LESSON, submit_file
from .conftest import submitted

MINE = f"{LESSON}.ipynb"
SMALL = 2**22  # bytes: a budget that a test exceeds quickly


def mode(name: str, kind: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = (kind | 0o644) << 16
    return info


def member(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def patched(archive: bytes, signature: bytes, offset: int, value: bytes) -> bytes:
    """A zip in which a field differs in every header of one kind."""
    changed, at = bytearray(archive), archive.find(signature)
    while at >= 0:
        changed[at + offset : at + offset + len(value)] = value
        at = archive.find(signature, at + 1)
    return bytes(changed)


def zip_with(info: zipfile.ZipInfo, content: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr(info, content)
    return made.getvalue()


def nested(depth: int) -> bytes:
    content = zipped({MINE: notebook("mallory")})
    for level in range(depth):
        content = zipped({f"{level}.zip": content})
    return content


def with_comment(size: int) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.comment = bytes(size)
    return made.getvalue()


# Mallory's files: file name -> bytes, and the expected line. Some are expensive to make
REFUSED = {
    "a bomb": lambda: ({"a.zip": zipped({MINE: bytes(2 * SMALL)})}, "reading it takes more than 4 MiB"),
    "a bomb in a bomb": lambda: ({"a.zip": zipped({"b.zip": zipped({MINE: bytes(2 * SMALL)})})}, "more than 4 MiB"),
    "many that are small": lambda: (
        {"a.zip": zipped({f"{n}.zip": nested(0) * 99 for n in range(300)})},
        "more than 4 MiB",
    ),
    "a bomb in tar.gz": lambda: ({"a.tar.gz": tarred({"data": bytes(2 * SMALL), MINE: b""})}, "more than 4 MiB"),
    "a bomb in zip in tgz": lambda: ({"a.tgz": tarred({"b.zip": zipped({MINE: bytes(2 * SMALL)})})}, "more than 4 MiB"),
    "20,000 empty files in a zip": lambda: (
        {"a.zip": zipped({f"empty {n}.ipynb": b"" for n in range(20_000)})},
        "its lists of names are longer than 1 MiB",
    ),
    "3,000 empty files in a zip": lambda: (
        {"a.zip": zipped({f"{n}": b"" for n in range(3_000)})},
        "more than 2,000 files",
    ),
    "20,000 folders in tar.gz": lambda: (
        {"a.tgz": tarred({}, members=[member(f"{n}", tarfile.DIRTYPE) for n in range(20_000)])},
        "more than 2,000 files",
    ),
    "20,000 empty files": lambda: ({f"{n}.txt": b"" for n in range(20_000)}, "more than 2,000 files"),
    "long comments": lambda: (
        {"a.zip": zipped({f"{n}.zip": with_comment(60_000) for n in range(40)})},
        "longer than 1 MiB",
    ),
    "too deep": lambda: ({"a.zip": nested(3)}, "0.zip: it is nested too deeply, in archives within archives"),
    "cut off": lambda: ({"a.zip": nested(0)[:60]}, r"a.zip: it could not be read \(BadZipFile"),
    "cut off, tar.gz": lambda: ({"a.tar.gz": tarred({MINE: os.urandom(9_000)})[:5_000]}, "it is cut off"),
    "no tar": lambda: ({"a.tar": b"x" * 1024}, "a.tar: it could not be read"),
    "encrypted": lambda: ({"a.zip": patched(nested(0), b"PK\1\2", 8, b"\1")}, f"{MINE}: it is encrypted"),
    "lzma": lambda: ({"a.zip": zipped({MINE: b"1"}, compression=zipfile.ZIP_LZMA)}, "compressed in an unusual way"),
    "says it is smaller": lambda: (
        {"a.zip": patched(zipped({MINE: notebook("m")}), b"PK\1\2", 24, b"\5\0\0\0")},
        r"could not be read \(BadZipFile: Bad CRC-32",
    ),
    "says it is stored larger": lambda: (
        {"a.zip": patched(nested(0), b"PK\1\2", 20, b"\xff\xff\xff\x7f")},
        "more than 4 MiB",
    ),
    "a link in a zip": lambda: (
        {"a.zip": zip_with(mode(MINE, 0o120000), b"/etc/passwd")},
        f"{MINE}: it is a link or a device",
    ),
    "a device in a zip": lambda: ({"a.zip": zip_with(mode(MINE, 0o020000), b"")}, "it is a link or a device"),
    "links and devices in a tar": lambda: (
        {
            "a.tgz": tarred(
                {},
                members=[
                    member(MINE, tarfile.SYMTYPE, "/etc/passwd"),
                    member(f"1/{MINE}", tarfile.LNKTYPE, f"../../../../{LESSON}/gradebook.db"),
                    member(f"2/{MINE}", tarfile.CHRTYPE),
                    member(f"3/{MINE}", tarfile.FIFOTYPE),
                ],
            )
        },
        "it is a link or a device.* and 1 more",
    ),
    "names that lead out": lambda: (
        {"a.zip": zipped({f"/{MINE}": b"", f"../{MINE}": b"", f"x/../../{MINE}": b"", f"C:\\{MINE}": b""})},
        "its path leads outside the archive.* and 1 more",
    ),
    "a name of 60,000 letters": lambda: ({"a.zip": zipped({"x" * 60_000 + MINE: b""})}, "its name is too long"),
    "60,000 folders": lambda: ({"a.zip": zipped({"x/" * 30_000 + MINE: b""})}, "its name is too long"),
    "names that differ in case": lambda: (
        {"a.zip": zipped({MINE: b"1", MINE.upper().replace("IPYNB", "ipynb"): b"2"})},
        "it is not clear which file counts",
    ),
    "names that differ in normal form": lambda: (
        {"a.zip": zipped({f"Zo\u00eb {MINE}": b"1", f"Zoe\u0308 {MINE}": b"2"})},
        "it is not clear which file counts: .*Zo\u00eb .* and .*Zoe\u0308 ",
    ),
    "one name twice": lambda: ({"a.zip": zipped([(MINE, b"1"), (MINE, b"2")])}, "it is not clear which file counts"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_oversized_and_damaged_files_are_reported_and_the_others_collected(
    collect: Any, course: Any, case: str
) -> None:
    files, why = REFUSED[case]()
    handed_in = {moodle("Mallory", 9, name): content for name, content in files.items()}
    submit_file(course.root, "mallory", notebook("here before"))
    found = collect({"class.zip": zipped(handed_in | {moodle("Jane", 1): notebook("jane")})}, max_bytes=SMALL)
    assert found == {"jane": "jane", "mallory": "here before"}
    line = collect.outcome_line("Mallory")
    assert line.startswith("Mallory (9) in class.zip: skipped: ")
    assert re.search(why, line), line


HARMLESS = {
    "a name of 130 ä": {f"{'ä' * 130} {MINE}": notebook("mallory")},
    "a beside a/x, a after a/x": {"a.zip": zipped([("a", b""), (f"a/{MINE}", notebook("mallory")), ("a", b"")])},
    "a version of 5,000 digits": {f"a/{LESSON} ({'9' * 200}).ipynb": notebook("mallory")},
    "a name that nothing prints": {f"\x1b]0;\x07{MINE}": notebook("mallory")},
    "folders without end": {"a/" * 300 + MINE: notebook("mallory")},
    "an archive that cannot be read beside it": {MINE: notebook("mallory"), "a.zip": nested(0)[:60]},
}


@pytest.mark.parametrize("case", HARMLESS)
def test_names_are_labels_and_harm_nothing(collect: Any, case: str) -> None:
    handed_in = {moodle("Mallory", 9, name): content for name, content in HARMLESS[case].items()}
    found = collect({"class.zip": zipped(handed_in | {moodle("Jane", 1): notebook("jane")})})
    assert found == {"jane": "jane", "mallory": "mallory"}


def test_a_name_that_no_folder_can_have_is_reported(collect: Any) -> None:
    found = collect({"class.zip": zipped({moodle("ä" * 130, 9): b"", moodle("Jane", 1): notebook("jane")})})
    assert found == {"jane": "jane"}
    assert "its name is too long" in collect.outcome_line("ä" * 100)


@pytest.mark.full
def test_a_bomb_over_the_default_budget_is_reported(collect: Any) -> None:
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive, archive.open(MINE, "w") as file:
        for _ in range(513):
            file.write(bytes(2**20))
    assert collect({"mallory/a.zip": bomb.getvalue(), f"jane/{MINE}": notebook("jane")}) == {"jane": "jane"}
    assert "reading it takes more than 512 MiB" in collect.outcome_line("mallory")


def test_entries_that_share_their_bytes_are_each_charged(collect: Any) -> None:
    """A thousand names for one archive of a megabyte: a gigabyte to read."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("inner.zip", bytes(2**20))
        archive.filelist *= 1_000
    assert len(made.getvalue()) < 1.1 * 2**20
    found = collect({"mallory/a.zip": made.getvalue(), f"jane/{MINE}": notebook("jane")}, max_bytes=2**23)
    assert found == {"jane": "jane"}
    assert "reading it takes more than 8 MiB" in collect.outcome_line("mallory")


def test_a_damaged_download_stops_no_other(collect: Any) -> None:
    whole = zipped({moodle("Jane", 1): notebook("jane")})
    assert collect({"a.zip": whole[:-30], "b.zip": whole}) == {"jane": "jane"}
    assert "the download cannot be read: it could not be read (BadZipFile" in collect.outcome_line("a.zip")


def test_links_and_devices_in_an_unpacked_download_are_reported(collect: Any, course: Any) -> None:
    folder = course.root / "downloaded" / LESSON / "archive" / "mallory"
    folder.mkdir(parents=True)
    (folder / MINE).symlink_to(course.root / "gradebook.db")
    (folder / "all").symlink_to(course.root, target_is_directory=True)
    os.mkfifo(folder / f"Copy of {MINE}")
    (folder.parent / "bo").symlink_to(folder)
    assert collect({f"jane/{MINE}": notebook("jane")}) == {"jane": "jane"}
    assert "it is a link or a device" in collect.outcome_line("mallory")
    assert collect.outcome_line("bo")


@pytest.mark.skipif(sys.platform == "darwin", reason="its file system takes names in UTF-8 only")
def test_names_that_are_not_valid_text_stop_no_collection(collect: Any, course: Any) -> None:
    archive = course.root / "downloaded" / LESSON / "archive"
    folder = os.fsencode(archive) + b"/bo\xff"
    os.makedirs(folder)
    with open(folder + b"/\xfe.ipynb", "wb") as file:
        file.write(notebook("bo"))
    with open(os.fsencode(archive) + b"/\xfd", "wb"):
        pass
    assert collect({f"jane/{MINE}": notebook("jane")}) == {"jane": "jane", "bo": "bo"}
    assert collect.outcome_line("\\udcfd")


def test_twenty_thousand_unpacked_files_are_reported(collect: Any, course: Any) -> None:
    folder = course.root / "downloaded" / LESSON / "archive" / "mallory" / "many"
    folder.mkdir(parents=True)
    for number in range(20_000):
        (folder / str(number)).touch()
    assert collect({f"jane/{MINE}": notebook("jane")}) == {"jane": "jane"}
    assert "it holds more than 2,000 files and folders" in collect.outcome_line("mallory")


FORGERY = "\x1b[2J\r\n[ZipCollectApp | INFO] Jane is collected\u2028\u202e.txt"


@pytest.mark.full
def test_no_name_reaches_the_terminal_unescaped(course: Any) -> None:
    """Run the command as a teacher does, and check every byte that it prints."""
    names = {
        "a person": moodle(f"a person{FORGERY}", 8, "a.pdf"),
        "a file": moodle("Mallory", 9, f"a file{FORGERY}"),
        "a folder": f"a folder{FORGERY}/{moodle('Jane', 1)}",
        "at the top": f"at the top{FORGERY}",
        "not counting": f"Eve/not counting{FORGERY}/x/{MINE}",
        "counting": f"Eve/{FORGERY}{MINE}",
    }
    archive = course.root / "downloaded" / LESSON / "archive"
    archive.mkdir(parents=True)
    (archive / f"download{FORGERY}.zip").write_bytes(zipped(dict.fromkeys(names.values(), notebook("eve"))))
    (archive / f"damaged{FORGERY}.zip").write_bytes(b"PK")
    (archive / f"loose{FORGERY}").write_bytes(b"")
    shutil.copy(ROOT / "nbgrader_config.py", course.root)
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    environment["COLUMNS"] = "2000"  # so that no line of the table wraps
    command = [sys.executable, "-m", "nbgrader", "zip_collect", LESSON]
    done = subprocess.run(command, cwd=course.root, env=environment, capture_output=True)
    said = (done.stdout + done.stderr).decode()
    assert done.returncode == 0, said
    logged = done.stderr.decode().rstrip("\n").split("\n")
    assert all(line.startswith("[ZipCollectApp | ") for line in logged)
    assert all(line.isprintable() for line in said.rstrip("\n").split("\n"))
    for name in {*names, "download", "damaged", "loose"} - {"counting"}:
        assert f"{name}\\x1b[2J\\r\\n[ZipCollectApp" in said, said
    assert submitted(course.root) == {"eve": "eve"}
