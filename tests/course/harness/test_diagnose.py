"""What is said of an answer by what known mistakes give on the same cases: named, two at once, hedged, or nothing.

Here an answer and each mistake are a row of numbers, one for each case, with `.` where it is right.
"""

from __future__ import annotations

import pytest
import torch

from course.harness.diagnose import Diagnosis, MistakeOutcomes, TaggedFinding, diagnose
from course.harness.messages import Finding
from course.harness.program import Observation
from course.harness.slips import Slip

CRITERIA = [[0, 1], [2, 3], [4, 5], [6, 7]]
RIGHT = 0.0


def outcome(sign: str) -> Observation:
    if sign == "!":
        return Observation(raised={"type": "E", "bases": ["E"], "message": "", "line": ""})
    values = {".": RIGHT, "t": True, "f": False}
    return Observation(values={"result": values[sign] if sign in values else torch.tensor(float(sign))})


def wrong(row: str, right: str = "........") -> list[Finding | None]:
    return [None if sign == other else Finding("values", "wrong") for sign, other in zip(row, right, strict=True)]


def known(name: str, *rows: str, when: str = "", right: str = "........") -> list[MistakeOutcomes]:
    found = [(row, frozenset(i for i, one in enumerate(wrong(row, right)) if one)) for row in rows]
    return [MistakeOutcomes(name, list(map(outcome, row)), misses, when) for row, misses in found]


def said(
    row: str,
    *mistakes: list[MistakeOutcomes],
    right: str = "........",
    tags: dict[int, str] | None = None,
    slips: dict[int, str] | None = None,
) -> Diagnosis:
    findings = wrong(row, right)
    for i, tag in (tags or {}).items():
        findings[i] = TaggedFinding("values", "wrong", tag)
    hints = [Slip(slips[i], slips[i]) if slips and i in slips else Slip() for i in range(len(row))]
    return diagnose(list(map(outcome, row)), findings, CRITERIA, [one for each in mistakes for one in each], hints)


A, B, C = known("a", "11......"), known("b", "...2...."), known("c", "3333....")


def test_a_mistake_that_explains_all_that_is_wrong_is_named():
    found = said("11......", A, B, C)
    assert (found.names, found.sure) == (("a",), True)
    assert found.explains == ("a", "", "", "")


def test_a_right_answer_and_one_like_no_mistake_are_said_nothing():
    assert said("........", A, B, C) == Diagnosis(explains=("",) * 4)
    assert said("7.......", A, B, C) == Diagnosis(explains=("",) * 4)


def test_what_is_alike_where_it_was_right_tells_nothing():
    """`a` is right in criterion 2, as the answer is not."""
    assert said("..9.....", A).names == ()


def test_half_of_the_lost_criteria_is_enough_and_less_is_hedged():
    assert said("11..7...", A) == Diagnosis(("a",), True, ("a", "", "", ""))
    less = said("11..7.7.", A)
    assert (less.names, less.sure) == (("a",), False)
    assert less.explain({"a": "You add. Do not."}) == ("Possibly: you add.", "Do not.")


def test_what_is_alike_in_less_than_half_of_the_cases_is_no_hint():
    assert said("11..7.7.", known("a", "11..8...")).names == ("a",)
    assert said("11..7.7.", known("a", "11..88..")).names == ()


def test_a_mistake_that_loses_an_earned_criterion_is_hedged():
    found = said("33......", C)
    assert (found.names, found.sure) == (("c",), False)


def test_a_mistake_that_loses_an_earned_criterion_and_explains_less_than_half_is_not_named():
    assert said("33..7.7.", C).names == ()


def test_of_two_that_explain_it_the_one_that_loses_nothing_else_is_meant():
    other = known("other", "11..5...")
    assert said("11......", A, other).names == ("a",)


def test_two_that_nothing_tells_apart_are_not_said():
    assert said("11......", A, known("twin", "11......")).names == ()


def test_two_at_once_are_both_said_the_one_that_explains_more_first():
    found = said("11.2....", B, A)
    assert (found.names, found.sure) == (("a", "b"), True)
    assert found.explain({"a": "You add. Do not.", "b": "You cut."}) == (
        "(1) You add. (2) You cut.",
        "For (1): Do not.",
    )


def test_where_both_are_wrong_at_once_it_may_be_like_neither():
    one, other = known("one", "11..1..."), known("other", "..2.22..")
    assert set(said("112.72..", one, other).names) == {"one", "other"}


def test_two_are_not_said_where_one_would_be_wrong_and_the_answer_is_right():
    one, other = known("one", "11..1..."), known("other", "..22....")
    assert set(said("11..7.7.", one, other).names) <= {"one"}


def test_two_are_not_said_where_a_third_would_do_as_well():
    assert said("11.2....", A, B, known("b too", "...2....")).names == ("a",)


def test_one_name_covers_several_values_of_a_constant():
    family = known("fills", "4.4.....", "5.5.....", "6.6.....")
    assert said("5.5.....", family, A).names == ("fills",)
    same = known("adds", "4.......", "4.......")
    assert said("4.......", same).names == ("adds",)


def test_a_tag_names_a_mistake_that_gives_other_numbers():
    chance = known("drops", "4.4.....", when="too many")
    assert said("9.9.....", chance, tags={0: "too many"}).names == ("drops",)
    assert said("9.9.....", chance, tags={0: "too few"}).names == ()
    assert said("9.9.....", known("untagged", "4.4....."), tags={0: ""}).names == ()


def test_a_tag_explains_only_cases_that_its_mistake_fails():
    chance = known("drops", "4.......", when="too many")
    found = said("9.9.9...", chance, tags={0: "too many"})
    assert (found.names, found.sure) == (("drops",), False)


@pytest.mark.parametrize(
    ("row", "names", "sure"),
    [
        ("tfffffff", ("the first",), True),
        ("tttttttt", ("always",), True),
        ("ttttttft", ("always",), False),  # but for one right no it is that
        ("tttttfff", ("the first four",), False),  # and one wrong yes more
        ("tftftftf", (), True),
    ],
)
def test_a_wrong_boolean_is_evidence_only_together_with_right_ones(row, names, sure):
    right = "ffffffff"
    known_ones = {"the first": "tfffffff", "the first four": "ttttffff", "always": "tttttttt"}
    mistakes = [known(name, row, right=right) for name, row in known_ones.items()]
    found = said(row, *mistakes, right=right)
    assert (found.names, found.sure) == (names, sure)


def test_an_answer_that_only_raises_gives_no_booleans():
    """Half of the lost criteria are explained, which a yes or no would not do."""
    assert said("!!..7...", known("raises", "!!......")).names == ("raises",)
    found = said("!!..!...", known("raises", "!!......"), known("twin", "....!..."), known("third", "....!..."))
    assert (found.names, found.sure) == (("raises",), True)


def test_a_slip_is_said_where_no_mistake_is_known():
    found = said("!!..!...", A, slips={0: "No return.", 4: "No return."})
    assert (found.names, found.sure, found.explain({})) == ((), True, ("No return.", ""))


def test_a_slip_in_fewer_than_half_of_what_was_lost_is_no_headline_but_advice():
    assert said("22..7.7.", slips={0: "No return."}).explain({}) == ("", "Also: no return.")


def test_a_slip_that_raises_is_the_headline_however_little_it_explains():
    assert said("!!..7.7.", slips={0: "No return."}).explain({}) == ("No return.", "")


def test_a_certain_mistake_is_said_before_a_slip_and_a_slip_before_a_hedge():
    slip = dict.fromkeys((0, 4, 6), "No return.")
    assert said("11......", A, slips=slip).names == ("a",)
    assert said("11..7...", A, slips=slip).names == ("a",)
    assert said("11..7.7.", A, slips=slip).slip.text == "No return."
    assert said("33......", C, slips={0: "No return."}).slip.text == "No return."


def test_a_slip_in_fewer_than_half_of_the_lost_criteria_does_not_prevent_a_hedge():
    assert said("11..7.7.", A, slips={4: "No return."}).names == ("a",)


def test_one_equal_number_is_not_enough_for_a_hedge():
    assert said("1...7.7.", known("by chance", "1.......")).names == ()
    assert said("11..7.7.", A).names == ("a",)


def test_a_slip_of_one_kind_counts_in_every_case_whatever_its_text_says_of_the_case():
    texts = {0: "(2,) and (3,)", 4: "(4,) and (5,)", 6: "(6,) and (7,)"}
    hints = [Slip("broadcast", texts[i]) if i in texts else Slip() for i in range(8)]
    findings = wrong("11..7.7.")
    found = diagnose(list(map(outcome, "11..7.7.")), findings, CRITERIA, A, hints)
    assert (found.slip.kind, found.slip.text, found.sure) == ("broadcast", "(2,) and (3,)", True)
