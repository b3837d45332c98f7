"""Hypothesis: any archive is read within its budget or refused with a message."""

from __future__ import annotations

import io
import re
import tarfile
import tracemalloc
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grading.errors import ArchiveError
from grading.submitted.archives import FOLDER, Budget, Entry, in_folder, in_tar, named
from grading.submitted.file_names import SHOWN, printable
from grading.plugins.lms.platforms import ParsedName, Submitter, by_platform, outermost
from grading.plugins.lms.selection import Selection, Submission

from ..support.fuzz_bounds import fuzz_settings
from ..support.lms_downloads import tarred, zipped

NOTEBOOKS = ["02_halves"]
BUDGET = {"max_bytes": 2**18, "max_files": 20, "max_depth": 2}
PEAK = 16 * 2**20  # bytes of memory; the lists of names take most of it

MINE = "02_halves.ipynb"
OUTSIDE = ["..", ".", "", "C:", "x\\y"]
ODD = ["ä" * 130, "a" * 300, "Zoe\u0308", "Zo\u00eb", "\x1b[2J\r\n", "\u202e"]
FORGED = ["Jane_1_assignsubmission_file_", f"jane_1_2_{MINE}", "__MACOSX"]
parts = st.sampled_from([MINE, f"Copy of {MINE}", "a", "A", *OUTSIDE, *ODD, *FORGED])
names = st.lists(parts, min_size=1, max_size=4).map("/".join).filter(bool) | st.text(min_size=1, max_size=20).map(
    "x".__add__
)
contents = st.binary(max_size=64) | st.sampled_from([b"", bytes(2**19), b"{}", b"PK\5\6" + bytes(18)])


@st.composite
def archives(draw: st.DrawFn, depth: int = 3) -> tuple[str, bytes]:
    """A name and its bytes: an archive of files and archives, some of them damaged."""
    inner = st.tuples(names, contents)
    if depth:
        inner |= archives(depth - 1)
    files = draw(st.lists(inner, max_size=6))
    make, ending = draw(
        st.sampled_from(
            [
                (zipped, ".zip"),
                (tarred, ".tar.gz"),
                (partial(tarred, gzipped=False, format=tarfile.GNU_FORMAT), ".tar"),
                (partial(tarred, gzipped=False, format=tarfile.PAX_FORMAT), ".tar"),
            ]
        )
    )
    try:
        made = make([(name.encode(errors="replace").decode(), content) for name, content in files])
    except ValueError:  # a name that this format cannot hold
        made = b""
    return draw(st.sampled_from(["a", "hand-in", "02_halves"])) + ending, draw(damaged(made))


@st.composite
def damaged(draw: st.DrawFn, whole: bytes) -> bytes:
    changed = bytearray(whole)
    for _ in range(draw(st.sampled_from([0, 0, 1, 3])) if whole else 0):
        changed[draw(st.integers(0, len(changed) - 1))] = draw(st.integers(0, 255))
    cut = draw(st.integers(0, len(changed))) if draw(st.integers(0, 4)) == 0 else len(changed)
    return bytes(changed[:cut])


def handed_in(name: str, content: bytes, top: str, owner: Submitter) -> Submission:
    submission = Submission(owner, "class.zip", Budget(**BUDGET))
    submission.add(Entry((top, name), size=len(content), open=lambda: io.BytesIO(content)), ParsedName(owner))
    return submission


def check_bounds(submission: Submission) -> None:
    """Read the submission; check that what it uses, keeps and says is within bounds."""
    tracemalloc.start()
    try:
        with_contents = {}
        try:
            chosen = Selection(submission, NOTEBOOKS)
            with_contents = {name: content.seek(0, 2) for name, content in chosen.contents.items()}
            chosen.close()
            said = chosen.trouble + chosen.passed_over + chosen.older
        except ArchiveError as why:
            said = [str(why)]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    budget = submission.budget
    assert peak < PEAK
    assert sum(with_contents.values()) <= budget.max_bytes
    assert set(with_contents) <= set(NOTEBOOKS)
    assert len(said) <= budget.max_files + 1
    assert all(line.isprintable() and len(line) < 1_000 for line in said)


@pytest.mark.full
@fuzz_settings(150)
@given(archives(), st.sampled_from(["moodle", "folder"]))
def test_any_archive_is_read_within_its_budget_or_refused(made: tuple[str, bytes], kind: str) -> None:
    owner, top = {
        "moodle": (Submitter("moodle", "Eve", "9"), "Eve_9_assignsubmission_file_"),
        "folder": (Submitter("folder", "eve"), "eve"),
    }[kind]
    check_bounds(handed_in(*made, top, owner))


@fuzz_settings(100)
@given(st.sampled_from(["a.zip", "a.tar", "a.tgz"]), st.binary(max_size=2_000))
def test_any_bytes_are_read_within_the_budget_or_refused(name: str, content: bytes) -> None:
    check_bounds(handed_in(name, content, "eve", Submitter("folder", "eve")))


@pytest.mark.full
@fuzz_settings(200)
@given(names)
def test_any_name_is_a_label(name: str) -> None:
    entry = named(name)
    assert entry.path and all(len(part) <= 255 for part in entry.path)
    assert entry.unfit or all(part not in ("", "..") and "/" not in part for part in entry.path)
    assert printable(name).isprintable() and len(printable(name)) <= SHOWN
    told = outermost(entry.path[0], folder=True)
    assert told is not None and str(told.owner).isprintable()


@pytest.mark.full
@fuzz_settings(100)
@given(
    st.lists(st.tuples(st.text(st.characters(codec="utf-8", exclude_characters="\0\\"), min_size=1), st.binary())),
    st.sampled_from([tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]),
)
def test_tar_archives_are_read_as_tarfile_wrote_them(files: list[tuple[str, bytes]], form: int) -> None:
    files = [("long/" * 30 + name.replace("/", "|")[:50], content) for name, content in files]
    try:
        made = tarred(files, gzipped=False, format=form, encoding="utf-8", errors="strict")
    except ValueError:  # USTAR cannot hold every long name
        return
    budget = Budget(max_files=10**6)
    found = [(entry.path, entry.open().read()) for entry in in_tar(io.BytesIO(made), (), budget)]
    assert found == [(named(name).path, content) for name, content in files]


def test_folders_and_their_files_are_listed(tmp_path: Path) -> None:
    (tmp_path / "jane" / "empty").mkdir(parents=True)
    (tmp_path / "jane" / "a.ipynb").write_bytes(b"123")
    found = {entry.path: (entry.unfit, entry.size) for entry in in_folder(tmp_path / "jane", tmp_path)}
    assert found == {("jane", "empty"): (FOLDER, 0), ("jane", "a.ipynb"): ("", 3)}


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(tarred([], [tarfile.TarInfo("a")], False, pax_headers={"c": "x" * 70_000}), id="extended header"),
        pytest.param(tarred({"x" * 70_000: b""}, gzipped=False, format=tarfile.GNU_FORMAT), id="long name"),
    ],
)
def test_a_long_header_is_not_read(made: bytes) -> None:
    with pytest.raises(ArchiveError, match="a header that is too long"):
        list(in_tar(io.BytesIO(made), (), Budget()))


def test_the_longest_list_of_names_fits_into_memory() -> None:
    """The longest list that a nested zip may have, and a header that is slow to parse."""
    check_bounds(handed_in("a.zip", zipped({f"{n}": b"" for n in range(20_000)}), "eve", Submitter("folder", "eve")))
    slow = b"3 a" * 20_000
    header = bytearray(tarred({"a": slow}, gzipped=False))
    header[156:157] = b"x"
    header[148:156] = b"%06o\0 " % (sum(header[:512]) - sum(header[148:156]) + 8 * 32)
    check_bounds(handed_in("a.tar", bytes(header), "eve", Submitter("folder", "eve")))


@st.composite
def names_as_canvas_gives_them(draw: st.DrawFn) -> tuple[str, Submitter]:
    """Any names of a person and a file, as Canvas joins them (lib/content_zipper.rb)."""
    number, order = (draw(st.sampled_from(["7", "12345", "678"])) for _ in range(2))
    person = re.sub(r"_(\d+)_", r"\1", "".join(draw(CHOSEN))).lower()
    late = draw(st.sampled_from(["", "LATE"]))
    start = re.sub(r"[^\w]", "", "_".join(part for part in (person, late, number) if part))
    file = re.sub(r'[\x00/\\:*?"<>|]+', "_", "".join(draw(CHOSEN)))
    return f"{start}_{order}_{file}", Submitter("canvas", "", number)


@st.composite
def names_as_moodle_gives_them(draw: st.DrawFn) -> tuple[str, Submitter]:
    person, number = "".join(draw(CHOSEN)).replace("_", " ").replace("/", ""), draw(st.sampled_from(["7", "12345"]))
    return f"{person}_{number}_assignsubmission_file_{''.join(draw(CHOSEN)).replace('/', '')}", Submitter(
        "moodle", person, number
    )


@st.composite
def names_as_brightspace_gives_them(draw: st.DrawFn) -> tuple[str, Submitter]:
    person, number = "".join(draw(CHOSEN)).replace("/", ""), draw(st.sampled_from(["7", "12345"]))
    file = draw(st.sampled_from(["", f" - {''.join(draw(CHOSEN))}".replace("/", "")]))
    return f"{number}-9 - {person} - Sep 24, 2026 926 PM{file}", Submitter("brightspace", person, number)


@st.composite
def names_as_blackboard_gives_them(draw: st.DrawFn) -> tuple[str, Submitter]:
    user, title = draw(st.sampled_from(["eve", "e_v", "7"])), draw(st.sampled_from(["02 Halves", "02_halves", "HW_1"]))
    file = "".join(draw(CHOSEN)).replace("/", "")
    return f"{title}_{user}_attempt_2026-11-20-23-59-00_{file}", Submitter("blackboard", f"{title}_{user}")


PIECES = ["jane", "Jane Smith", "_", "_", "-", " ", "12345", "600", "7", "anon", "LATE", "x", "_assignsubmission_file_"]
PIECES += [
    MINE,
    " - Sep 24, 2026 926 PM",
    " - ",
    "_attempt_2026-11-20-23-59-00_",
    "_12345_600_",
    "_7_assignsubmission_file_",
]
CHOSEN = st.lists(st.sampled_from([*PIECES, "1-9 - Jane"]), min_size=1, max_size=7)


@pytest.mark.full
@fuzz_settings(600)
@given(
    names_as_canvas_gives_them()
    | names_as_moodle_gives_them()
    | names_as_brightspace_gives_them()
    | names_as_blackboard_gives_them()
)
def test_no_choice_of_names_makes_a_person_look_like_another(
    made: tuple[str, Submitter],
) -> None:
    name, owner = made
    told = by_platform(name)
    if told is not None and told.owner != owner:
        assert owner.platform == told.owner.platform == "canvas" and owner.number == told.owner.number, told
