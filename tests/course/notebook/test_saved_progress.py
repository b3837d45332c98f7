"""What is remembered of a learner's work: where, how, and what happens to a file that cannot be trusted."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import course
from course.cli import main
from course.models.data_folder import PROGRESS, data_file
from course.notebook import catalog, progress
from course.notebook import session as learner
from course.notebook.saved_progress import ExerciseProgress, ProgressStore, bytecode_hash
from course.outline import counts
from grading.judge.kernel.session import Limits, Session
from grading.sandbox.launch import ENVIRONMENT

LESSON = "02_softmax"


def session(path: Path, monkeypatch) -> ProgressStore:
    """A kernel begins anew, with this file."""
    monkeypatch.setenv("ATTENTION_MEMORY", str(path))
    learner.renew(lesson=LESSON)
    return learner.current().store


def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)


def test_points_and_hints_outlast_the_session(tmp_path, monkeypatch, capsys):
    path = tmp_path / "folder" / "progress.json"
    session(path, monkeypatch)
    course.check(softmax)
    course.hint(softmax)
    capsys.readouterr()
    known = session(path, monkeypatch).get(LESSON, "softmax")
    assert (known.status, known.earned, known.passed, known.hints, len(known.tries)) == ("passes", 7.0, True, 1, 1)
    course.hint(softmax)
    assert "Hint 2 of 3" in capsys.readouterr().out
    assert [file.name for file in path.parent.iterdir()] == [path.name], "nothing half-written is left"


def test_two_notebooks_write_one_file_and_lose_nothing(tmp_path):
    path = tmp_path / "progress.json"
    one, other = ProgressStore(path), ProgressStore(path)
    assert one.lessons == other.lessons == {}
    one.record(LESSON, "softmax", ExerciseProgress("passes"))
    other.record("01_dot_products", "dot", ExerciseProgress("wrong"))
    assert {lesson: list(of) for lesson, of in ProgressStore(path).lessons.items()} == {
        LESSON: ["softmax"],
        "01_dot_products": ["dot"],
    }


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b'{"lessons": 1}',
        b'{"lessons": {"02_softmax": {"softmax": {"status": "passes"}}}}',
        b'{"lessons": {"a": {"b": {"status": "<b>", "earned": 1, "passed": 1, "hints": 0, "tries": []}}}}',
        b'{"lessons": {"a": {"b": {"status": "wrong", "earned": NaN, "passed": 1, "hints": 0, "tries": []}}}}',
        b"[" * 200_000,
        b" " * ((1 << 20) + 1),
    ],
)
def test_a_damaged_file_is_set_aside_with_a_sentence_and_work_goes_on(text, tmp_path, capsys):
    path = tmp_path / "progress.json"
    path.write_bytes(text)
    memory = ProgressStore(path)
    assert memory.get(LESSON, "softmax") == ExerciseProgress()
    assert "damaged and was renamed to progress.json.damaged" in capsys.readouterr().out
    assert (tmp_path / "progress.json.damaged").read_bytes() == text
    memory.record(LESSON, "softmax", ExerciseProgress("passes"))
    assert ProgressStore(path).get(LESSON, "softmax").status == "passes"


def test_where_nothing_can_be_written_it_is_said_once_and_the_session_remembers(tmp_path, capsys):
    (tmp_path / "file").write_text("a file, and no folder")
    memory = ProgressStore(tmp_path / "file" / "progress.json")
    for status in ("wrong", "passes"):
        memory.record(LESSON, "softmax", ExerciseProgress(status))
    assert memory.get(LESSON, "softmax").status == "passes"
    assert capsys.readouterr().out.count("cannot be saved beyond this session") == 1


def test_grading_keeps_no_memory(tmp_path, monkeypatch):
    assert ENVIRONMENT["ATTENTION_MEMORY"] == "off"
    monkeypatch.setenv("ATTENTION_MEMORY", "off")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert data_file(PROGRESS) is None
    learner.renew(lesson=LESSON)
    course.check(softmax)
    assert learner.current().store.get(LESSON, "softmax").passed, "the session itself remembers"
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other customs")
def test_the_file_lies_where_the_system_keeps_a_users_data(tmp_path, monkeypatch):
    monkeypatch.delenv("ATTENTION_MEMORY")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert data_file(PROGRESS) == tmp_path / "attention-course" / "progress.json"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert data_file(PROGRESS) == tmp_path / ".local/share/attention-course/progress.json"


def test_a_try_is_told_by_its_code_and_not_by_its_comments(tmp_path):
    def made(text: str):
        exec(text, names := {})
        return names["f"]

    first = bytecode_hash(made("def f(x):\n    return x + 1"))
    assert first == bytecode_hash(made("# again\n\ndef f(x):\n    # a remark\n    return  x+1"))
    assert first != bytecode_hash(made("def f(x):\n    return x + 2"))
    one, other = (bytecode_hash(made(f"class f:\n    def g(self):\n        return {i}")) for i in (1, 2))
    assert one != other
    assert bytecode_hash(3) is None


def test_the_file_is_plain_json(tmp_path):
    ProgressStore(tmp_path / "p.json").record(LESSON, "softmax", ExerciseProgress("wrong", 1.5, tries=[3]))
    read = json.loads((tmp_path / "p.json").read_text())
    assert read["lessons"][LESSON]["softmax"] == {
        "status": "wrong",
        "earned": 1.5,
        "passed": False,
        "hints": 0,
        "tries": [3],
        "asked": 0,
    }


def test_progress_tells_of_all_lessons_what_is_next_and_where_it_is_remembered(tmp_path, monkeypatch, capsys):
    path = tmp_path / "progress.json"
    memory = session(path, monkeypatch)
    for exercise in catalog.exercises_of("01_dot_products"):
        memory.record("01_dot_products", exercise, ExerciseProgress("passes", 5.0, True))
    session(path, monkeypatch)
    learner.current().names = {"softmax": softmax}
    course.progress()
    out = capsys.readouterr().out
    counted = [lesson for lesson in catalog.lessons() if counts(lesson)]
    last, total = counted[-1][:2], sum(len(catalog.exercises_of(lesson)) for lesson in counted)
    so_far = f"The course so far: ○ 00, ✓ 01, ◐ 02, ○ 03–{last}. 5 of {total} exercises pass, 27 of "
    assert so_far in " ".join(out.split())
    assert "1 of 4 exercises pass. Next: `log_softmax`." in out
    assert str(path) in out.replace("\n  ", "")


def test_a_warm_up_is_neither_counted_nor_next(tmp_path, monkeypatch):
    memory, warm_up = session(tmp_path / "progress.json", monkeypatch), "90_tensors"
    learner.current().lesson = warm_up
    begun = progress.course_so_far(learner.current())
    assert begun.startswith("The course so far: ○ 00–") and " 90" not in begun and "–90" not in begun
    assert "Next:" not in begun, "its own exercises come first"
    for exercise in catalog.exercises_of(warm_up):
        memory.record(warm_up, exercise, ExerciseProgress("passes", 5.0, True))
    done = progress.course_so_far(learner.current())
    assert "Next: `" in done and "0 of " in done and f"in {catalog.lessons()[0]}" in done


def test_the_command_tells_of_the_course_where_no_file_answers_anything(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    session(tmp_path / "progress.json", monkeypatch).record(LESSON, "softmax", ExerciseProgress("passes", 7.0, True))
    learner.current().lesson = None
    assert main(["progress"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("The course so far:")
    assert "1 of " in out and " exercises pass, 7 of " in out
    assert "Next: `" in out


@pytest.mark.parametrize(
    ("status", "earned", "kept"),
    [("wrong", 0.0, ("passes", 7.0)), ("not started", 0.0, ("passes", 7.0)), ("passes", 7.0, ("passes", 7.0))],
)
def test_no_later_check_takes_away_what_was_reached(status, earned, kept):
    after = ExerciseProgress("passes", 7.0, True, tries=[1]).after(status, earned, 2, most=3)
    assert (after.status, after.earned, after.passed, after.tries) == (*kept, True, [1, 2])


def test_before_it_passes_the_best_points_are_kept_and_passing_counts_more_than_points():
    known = ExerciseProgress("partly right", 3.0)
    assert known.after("wrong", 0.0, None, most=3) == known
    assert known.after("partly right", 4.0, None, most=3).earned == 4.0
    assert known.after("passes", 2.0, None, most=3).status == "passes"


def test_a_placeholder_does_not_undo_what_passed_in_an_earlier_session(tmp_path, monkeypatch):
    path = tmp_path / "progress.json"
    session(path, monkeypatch).record(LESSON, "softmax", ExerciseProgress("passes", 7.0, True))
    memory = session(path, monkeypatch)
    exec(f"import course\ncourse.begin({LESSON!r})\ncourse.check(softmax)", {})
    assert memory.get(LESSON, "softmax").status == "passes"


@pytest.mark.quick_cases("attention-sandbox")
@pytest.mark.parametrize("provisioner", ["attention-sandbox", "local-provisioner"])
def test_a_kernel_in_which_answers_are_graded_reads_and_writes_no_memory(provisioner, tmp_path, monkeypatch, request):
    (tmp_path / "work").mkdir()
    path = tmp_path / "progress.json"
    ProgressStore(path).record(LESSON, "softmax", ExerciseProgress("passes", 7.0, True))
    before = path.read_bytes()
    monkeypatch.setenv("ATTENTION_MEMORY", str(path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    if provisioner == "attention-sandbox":
        request.getfixturevalue("sandboxed")
    with Session("python3", {"provisioner_name": provisioner, "config": {}}, tmp_path / "work", Limits()) as session:
        session.run(
            "from course import begin, check, hint\nfrom course.notebook import session\n"
            "begin('02_softmax')\nhint(softmax)"
        )
        session.run("def softmax(x, dim=-1):\n    return x")
        session.run("check(softmax)")
        ran = session.run("(session.current().store.path, len(session.current().store.lessons['02_softmax']))")
    assert ran.outputs[0].data["text/plain"] == "(None, 1)"
    assert path.read_bytes() == before
    assert sorted(one.name for one in tmp_path.iterdir()) == ["progress.json", "work"]
