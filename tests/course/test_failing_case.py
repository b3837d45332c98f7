"""Which failing case a report shows, and in how many lines."""

from __future__ import annotations

import torch

from course.failing_case import choose_case, failing_case, headline_for, order
from course.harness.diagnose import Diagnosis
from course.harness.difference import Difference, printed
from course.harness.messages import Finding, not_a_sequence, wrong_length, wrong_shape, wrong_type
from course.harness.program import Observation, Program
from course.harness.serialization import Node
from course.harness.slips import Slip
from course.report import Example


def program(**inputs: object) -> Program:
    refs = [Node("ref", {"name": name, "path": []}) for name in inputs]
    return Program(inputs, [("result", Node("student", {"name": "f"}), refs, {})], ["result"])


def values(right: torch.Tensor, got: torch.Tensor) -> Finding:
    return Finding("values", "wrong", difference=Difference("the result", right, got, right != got))


def test_a_call_of_more_than_four_lines_is_shown_by_its_shapes():
    x, heads = torch.rand(2, 4), [(torch.rand(4, 2), torch.rand(4, 2))] * 4
    asked = program(x=x, heads=heads)
    finding = values(torch.ones(2), torch.zeros(2))
    long, short = f"f(torch.tensor({(x.tolist() * 8)}))", f"f(torch.tensor({x.tolist()}))"
    seen = Observation()
    shapes = "f((2, 4), [((4, 2), (4, 2)), ((4, 2), (4, 2)), ((4, 2), (4, 2)), …])"
    assert failing_case(long, asked, seen, finding).call == shapes
    assert failing_case("f(tensor([[0.],\n" * 5 + ")", asked, seen, finding).call == shapes
    assert failing_case(short, asked, seen, finding).call == short
    assert failing_case("words " * 90, asked, seen, finding).call == "words " * 90


def test_no_zero_has_a_sign():
    shown = printed(Difference("the result", torch.tensor([-0.0, 1.0]), torch.tensor([0.5, -0.0]), torch.ones(2) > 0))
    assert (shown.expected, shown.got) == ("[0.0, 1.0]", "[0.5, 0.0]")


def test_the_case_with_fewest_numbers_comes_first_and_a_refused_argument_last():
    small, large = program(x=torch.ones(2)), program(x=torch.ones(9))
    right = Observation(values={"result": torch.ones(2)})
    refused = Observation(raised={"type": "ValueError", "bases": [], "message": "", "line": ""})
    wrong, nan = Finding("values", "wrong"), Finding("finite", "NaN")
    keys = [
        order(small, right, wrong, True),
        order(large, right, wrong, True),
        order(small, right, nan, True),
        order(small, right, wrong, False),
        order(small, refused, Finding("raised", "expected ValueError"), True),
    ]
    assert keys == sorted(keys)


def test_the_hint_is_that_on_the_case_that_is_shown():
    hints = [Slip("broadcast", "of case 0"), Slip("broadcast", "of case 1"), Slip()]
    failing = {i: Finding("raised", "no") for i in range(3)}
    found, diagnosis, described = choose_case(failing, Diagnosis(slip=hints[0]), hints, (), (), lambda i: -i)
    assert (found, diagnosis.slip.text, described) == (1, "of case 1", None)


def test_a_case_that_an_unsure_slip_explains_is_not_the_one_that_is_described():
    hints = [Slip("dtype", "wrong dtype"), Slip(), Slip()]
    x = torch.tensor([1.0, 2.0, 4.0])
    failing = {0: Finding("dtype", "no"), 1: values(x, x**3), 2: values(x, 3 * x)}
    unsure = Diagnosis(sure=False, slip=hints[0])
    found, diagnosis, described = choose_case(failing, unsure, hints, (), (0, 1, 2), lambda i: i)
    assert described is not None
    assert described.sentences == {2: "In this case, every entry of the result is 3 times what it should be."}
    assert (found, diagnosis) == (2, unsure)


def test_a_wrong_form_in_the_clearest_case_is_not_passed_over_for_a_description_of_another():
    x = torch.tensor([1.0, 2.0, 4.0])
    failing = {0: wrong_shape("the result", x[:1], x), 1: values(x, 3 * x)}
    assert choose_case(failing, Diagnosis(), [Slip()] * 2, (), (0, 1), lambda i: i) == (0, Diagnosis(), None)
    assert choose_case(failing, Diagnosis(), [Slip()] * 2, (), (0, 1), lambda i: -i)[2] is not None


def test_a_named_mistake_is_shown_by_a_case_that_it_explains():
    failing = {i: Finding("values", "no") for i in range(3)}
    assert choose_case(failing, Diagnosis(("a",)), [Slip()] * 3, {1, 2}, (), lambda i: -i)[0] == 2
    assert choose_case(failing, Diagnosis(("a",)), [Slip()] * 3, (), (), lambda i: i)[0] == 0


def test_a_wrong_form_is_said_in_the_first_sentence():
    shape = wrong_shape("the result", torch.ones(2, 3), torch.ones(3, 2))
    assert headline_for(shape, Example("f()")) == "In the shape of the result, dimensions 0 and 1 are swapped."
    unlike = wrong_shape("the result", torch.ones(2, 3), torch.ones(4, 5))
    assert headline_for(unlike, Example("f()")) == "The result has the wrong shape."
    alone = not_a_sequence("the result", torch.ones(2), (1, 2), ())
    assert headline_for(alone, Example("f()")) == "The result is a tensor instead of a tuple of 2."
    number = wrong_type("the result[1]", 1.0, torch.ones(()))
    assert headline_for(number, Example("f()")) == "Item 1 of the result is a float instead of a tensor."
    assert (
        headline_for(wrong_length("the result", [1], [1, 2], ()), Example("f()"))
        == "The result has 1 item instead of 2."
    )


def test_a_part_of_a_result_is_called_by_a_name():
    wrong = Finding("values", "wrong", difference=Difference("the result[1]", 7, 5))
    assert headline_for(wrong, Example("f()")) == "Item 1 of the result has wrong values."
    inner = Finding("values", "wrong", difference=Difference("the result[1]['W_q']", 7, 5))
    assert headline_for(inner, Example("f()")) == "`W_q` of item 1 of the result has wrong values."
