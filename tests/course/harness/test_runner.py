"""What is observed of a call: results, gradients, changes, errors."""

from __future__ import annotations

import sys

import pytest
import torch

from course.harness.bytecode import compile_stand_in
from course.harness.program import Observation, Program
from course.harness.runner import drop_unchanged, handle_request, observe
from course.harness.serialization import Node, PackingError
from grading.grader import codec

SUBJECT = Node("student", {"name": "f"})


def ref(name, *path):
    return Node("ref", {"name": name, "path": list(path)})


def call(function, *inputs, **options):
    named = {f"x{i}": value for i, value in enumerate(inputs)}
    program = Program(named, [("out", SUBJECT, [ref(name) for name in named], {})], ["out"], **options)
    return observe(program, {"f": function})


def test_every_input_gets_its_gradient_for_the_given_cotangent():
    a, b, cotangent = torch.randn(3, 4), torch.randn(4), torch.randn(3)
    seen = call(lambda a, b: (a * b).sum(-1), a, b, cotangents=[cotangent])
    assert torch.allclose(seen.gradients["x0"], cotangent[:, None] * b)
    assert torch.allclose(seen.gradients["x1"], (cotangent[:, None] * a).sum(0))


def test_a_detached_result_is_reported():
    seen = call(lambda x: x.detach() * 2, torch.randn(3), cotangents=[torch.ones(3)])
    assert seen.detached == [0]


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.add_(1),
        lambda x: x.data.zero_(),
        lambda x: x.numpy().fill(3),
        lambda x: x.__setitem__(0, 9),
    ],
)
def test_a_change_in_place_is_seen_however_it_is_made(change):
    assert "x0" in call(change, torch.randn(4)).changed


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.nan_to_num_(nan=torch.nan, neginf=torch.finfo(x.dtype).min),
        lambda x: x.nan_to_num_(nan=torch.nan, posinf=torch.finfo(x.dtype).max),
        lambda x: x.nan_to_num_(nan=0.0, neginf=-torch.inf, posinf=torch.inf),
    ],
)
def test_minus_infinity_is_not_the_lowest_number_and_nan_is_not_0(change):
    assert "x0" in call(change, torch.tensor([1.0, torch.nan, -torch.inf, torch.inf])).changed


def test_arguments_are_sent_back_and_compared_by_the_caller(monkeypatch):
    """What compares in the learner's process may be replaced: it is not asked."""
    program = Program({"x": torch.randn(4), "y": torch.randn(3)}, [("out", SUBJECT, [ref("x")], {})], ["out"])
    monkeypatch.setattr(torch, "equal", lambda a, b: True)
    text = handle_request(codec.request([program]), {"f": lambda x: x.add_(1)})
    monkeypatch.undo()
    (seen,) = codec.decode_reply(repr(text), 1)
    assert seen.changed.keys() == {"x", "y"}
    assert drop_unchanged(seen, program).changed.keys() == {"x"}
    assert drop_unchanged(drop_unchanged(seen, program), program).changed.keys() == {"x"}


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda given: given.sort(), "x0[0]"),
        (lambda given: given.append(7), "x0[3]"),
        (lambda given: given.append(None), "x0[3]"),
        (lambda given: given.pop(), "x0[2]"),
        (lambda given: given.clear(), "x0[0]"),
        (lambda given: given.__setitem__(1, 1.0), "x0[1]"),
    ],
)
def test_a_list_that_is_changed_is_seen(change, place):
    assert place in call(change, [3, 1, 2]).changed
    assert not call(len, [3, 1, 2]).changed


def test_tensors_that_change_places_or_are_replaced_in_a_container_are_seen():
    cache = {"key": torch.zeros(2, 3), "value": torch.ones(2, 3)}
    assert call(lambda cache: cache.update(key=torch.ones(2, 3)), cache).changed.keys() == {"x0['key']"}
    assert call(lambda cache: cache.pop("value"), cache).changed.keys() == {"x0['value']"}
    assert "x0[0]" in call(lambda pair: pair.reverse(), [torch.zeros(2), torch.ones(2)]).changed


def test_a_gradient_that_is_left_in_an_argument_is_seen():
    def leaving(x):
        (x.requires_grad_() * 2).sum().backward()

    assert call(leaving, torch.ones(3)).changed.keys() == {"x0.grad", "x0.requires_grad"}
    assert call(lambda x: (x * 2).sum().backward(), torch.ones(3), cotangents=[]).changed.keys() == {"x0.grad"}
    assert not call(lambda x: x * 2, torch.ones(3), cotangents=[torch.ones(3)]).changed


@pytest.mark.parametrize("sent", [torch.zeros(1), torch.zeros(4, dtype=torch.float64), None, "as it was", 0])
def test_an_argument_returned_as_another_type_was_changed(sent):
    program = Program({"x": torch.zeros(4)}, [], [])
    assert drop_unchanged(Observation(changed={"x": sent}), program).changed.keys() == {"x"}
    assert drop_unchanged(Observation(changed={"z": sent}), program).changed.keys() == {"z"}


def test_an_untouched_argument_is_not_reported():
    assert not call(lambda x: x + 1, torch.tensor([1.0, torch.nan, -torch.inf])).changed


@pytest.mark.parametrize(
    ("raising", "kind"),
    [
        (lambda x: x / "a", "TypeError"),
        (lambda x: sys.exit(3), "SystemExit"),
        (lambda x: exec("raise 3"), "TypeError"),
        (lambda x: (_ for _ in ()).throw(KeyboardInterrupt), "KeyboardInterrupt"),
    ],
)
def test_whatever_is_raised_is_an_observation(raising, kind):
    assert call(raising, torch.randn(2)).raised["type"] == kind


def test_an_error_whose_text_is_unavailable_is_still_an_observation():
    class Hostile(ValueError):
        def __str__(self):
            raise RuntimeError("no")

    def f(x):
        raise Hostile

    assert "ValueError" in call(f, torch.randn(2)).raised["bases"]


def test_what_the_call_prints_and_warns_is_not_shown(capsys, recwarn):
    def f(x):
        import warnings

        warnings.warn("loud", stacklevel=1)
        print("loud")
        return x

    call(f, torch.randn(2))
    assert capsys.readouterr() == ("", "")
    assert not recwarn.list


def test_state_that_a_call_leaves_behind_does_not_reach_the_next():
    def f(x):
        torch.set_default_dtype(torch.float64)
        torch.set_grad_enabled(False)
        return x

    call(f, torch.randn(2))
    seen = call(lambda x: x * torch.ones(2), torch.randn(2), cotangents=[torch.ones(2)])
    assert seen.raised is None
    assert seen.values["out"].dtype == torch.float32
    assert not seen.detached
    assert torch.get_default_dtype() == torch.float32


def test_the_same_program_draws_the_same_random_numbers():
    first, second = (call(lambda x: torch.rand(3), torch.ones(1), seed=5).values["out"] for _ in range(2))
    assert torch.equal(first, second)


def test_a_foreign_object_is_described_only_by_its_type():
    class Hostile:
        def __repr__(self):
            raise RuntimeError

        __eq__ = __reduce__ = __repr__

    seen = call(lambda x: Hostile(), torch.ones(1))
    assert isinstance(seen.values["out"], Node)
    assert seen.values["out"].fields["type"] == "Hostile"


def test_a_tensor_subclass_does_not_count_as_a_tensor():
    class Lying(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return True

    seen = call(lambda x: x.as_subclass(Lying), torch.ones(2))
    assert type(seen.values["out"]) in (torch.Tensor, Node)


def test_a_stand_in_takes_the_place_of_another_of_the_learners_functions():
    def helper(x):
        return x * 0

    names = {"helper": helper}
    exec("def f(x):\n    return helper(x) + 1", names)
    program = Program({"x": torch.ones(2)}, [("out", SUBJECT, [ref("x")], {})], ["out"])
    program.stand_ins = {"helper": compile_stand_in("def helper(x):\n    return x * 10")}
    assert observe(program, names).values["out"].tolist() == [11, 11]
    assert names["helper"] is helper


def test_a_kind_of_device_is_listed_once_for_any_number_of_results():
    seen = call(lambda x: [x + i for i in range(2000)], torch.zeros(1))
    assert seen.devices == ["cpu"]
    assert len(seen.values["out"]) == 2000


def test_results_too_large_to_be_sent_cost_their_own_call_only():
    def f(x):
        return torch.zeros(2500, 2500) if x == 0 else x

    programs = [Program({"x": torch.tensor(float(i))}, [("out", SUBJECT, [ref("x")], {})], ["out"]) for i in (0, 1)]
    with pytest.raises(PackingError):
        handle_request(codec.request(programs), {"f": f})
    large, small = (codec.decode_reply(repr(handle_request(codec.request([one]), {"f": f})), 1)[0] for one in programs)
    assert large.raised["type"] == "PackingError"
    assert small.values["out"] == 1


@pytest.fixture
def default_device():
    yield torch.set_default_device
    torch.set_default_device("cpu")


def test_a_default_device_of_the_notebook_is_put_aside_for_the_call_and_back(default_device):
    default_device("meta")
    seen = call(lambda x: x + torch.ones(3, device=x.device) + torch.zeros(3), torch.ones(3, device="cpu"))
    assert torch.ones(1).device.type == "meta"
    assert seen.values["out"].tolist() == [2.0, 2.0, 2.0]


def test_a_default_device_that_the_answer_sets_is_gone_after_the_call(default_device):
    call(lambda x: torch.set_default_device("meta"), torch.ones(3))
    assert torch.ones(1).device.type == "cpu"


def test_anomaly_detection_of_the_notebook_is_put_aside_for_the_call_and_back():
    with torch.autograd.set_detect_anomaly(True):
        seen = call(
            lambda x: torch.where(x > 0, (x.relu() - x).sqrt() * 0, x), torch.ones(3), cotangents=[torch.ones(3)]
        )
        assert torch.is_anomaly_enabled()
    assert not seen.raised and seen.gradients["x0"].isnan().all()
