"""If two people grade at once, neither overwrites the other's changes unseen."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grading.course import Course
from grading.errors import Conflict
from grading.plugins.review.desk import ReviewDesk

from ...support.postgres_server import server
from ...support.review_course import LESSON, WHY, make_review_course, open_desk
from .conftest import ANSWERS
from .reading import grade, in_nbgrader, key_of, seen

AT_ONCE = 4


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with server() as running:
        config = f"c.CourseDirectory.db_url = {running.url('review')!r}\nc.CourseDirectory.course_id = 'attention'"
        yield make_review_course(tmp_path_factory.mktemp("postgres") / "course", ANSWERS, config=config)


@pytest.fixture(params=["sqlite", "postgres"])
def opened(request: pytest.FixtureRequest) -> Iterator[Callable[[], ReviewDesk]]:
    """Opens desks on one gradebook of each kind; removes all grades at the end."""
    root = request.getfixturevalue("course" if request.param == "sqlite" else "postgres")
    desks: list[ReviewDesk] = []

    def open_one() -> ReviewDesk:
        desks.append(open_desk(root))
        return desks[-1]

    yield open_one
    grade(desks[0], WHY, *ANSWERS, items=[], adjust=0, comment="")
    for desk in desks:
        desk.gradebook.close()


def test_the_second_of_two_writers_is_refused_and_may_then_choose(opened):
    ann, bob = opened(), opened()
    shown = seen(ann, WHY, "ada", "ben")
    bob.grade("bob", "b", key_of(WHY), seen(bob, WHY, "ada"), {"items": ["softmax"]})
    with pytest.raises(Conflict) as refused:
        ann.grade("ann", "a", key_of(WHY), shown, {"items": ["variance"]})
    assert refused.value.args[1] == list(seen(ann, WHY, "ada"))
    assert in_nbgrader(ann, WHY, "ada")[0] == 0.5
    assert in_nbgrader(ann, WHY, "ben")[0] is None  # either everything is written, or nothing
    ann.grade("ann", "a", key_of(WHY), seen(ann, WHY, "ada", "ben"), {"items": ["variance"]})
    assert [in_nbgrader(bob, WHY, student)[0] for student in ("ada", "ben")] == [1.5, 1.5]


@pytest.mark.full
def test_a_grade_or_comment_from_the_formgrader_is_not_overwritten_unseen(opened):
    ann = opened()
    shown = seen(ann, WHY, "ada")
    with Course(ann.root).gradebook() as formgrader:
        formgrader.find_comment(WHY, LESSON, LESSON, "ada").manual_comment = "Mine."
        formgrader.db.commit()
    with pytest.raises(Conflict):
        ann.grade("ann", "a", key_of(WHY), shown, {"comment": "Ann's."})
    assert in_nbgrader(ann, WHY, "ada")[3] == "Mine."


@pytest.mark.full
def test_of_several_simultaneous_writers_one_wins_and_the_others_get_a_conflict(opened):
    desks = [opened() for _ in range(AT_ONCE)]
    shown = seen(desks[0], WHY, "ada", "ben", "cy")
    ready, outcomes = threading.Barrier(AT_ONCE), dict[int, str]()

    def write(number: int) -> None:
        desk = open_desk(desks[0].root)  # a connection belongs to its thread
        ready.wait()
        try:
            wanted = {"items": ["variance"], "adjust": -number / 8, "comment": f"by {number}"}
            desk.grade(f"grader {number}", f"p{number}", key_of(WHY), shown, wanted)
            outcomes[number] = "written"
        except Conflict:
            outcomes[number] = "refused"
        finally:
            desk.gradebook.close()

    threads = [threading.Thread(target=write, args=(number,)) for number in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes.values()) == ["refused"] * (AT_ONCE - 1) + ["written"]
    (winner,) = (number for number, outcome in outcomes.items() if outcome == "written")
    for student in ("ada", "ben", "cy"):
        assert in_nbgrader(desks[0], WHY, student) == (1.5 - winner / 8, None, False, f"by {winner}")
