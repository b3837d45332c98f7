"""Which small changes of a right answer are made, and which are not."""

from __future__ import annotations

import ast

import pytest

from grading.proof.mutants import mutants, normal, sampled

ANSWER = '''
def answer(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """What it is."""
    if x.ndim != 1:
        raise ValueError(f"x has {x.ndim + 1} dimensions")
    return x.sum(-1)
'''


def changed(body: str) -> set[str]:
    """The lines that take the place of a function's one line."""
    made = mutants({"base": f"def f(a, b):\n    {body}"})
    return {mutant.edit.partition(" -> ")[2] for mutant in made}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return a + b", {"return a - b", "return a", "return b + b"}),
        ("return a @ b", {"return b @ a"}),
        ("return a < b", {"return a <= b", "return a > b"}),
        ("return -a", {"return a"}),
        ("return a[3]", {"return a[4]", "return a[2]"}),
        ("return a[1:b]", {"return a[:b]", "return a[1:]", "return a[2:b]"}),
        ("return a.clone()", {"return a", "return a.clone().detach()", "return a.clone().half()"}),
        ("return a, b", {"return (b, a)", "return (a.float(), b)", "return (a, b.transpose(-2, -1))"}),
        (
            "return a.sum(-1, keepdim=True)",
            {"return a.sum(-1)", "return a.sum(keepdim=True)", "return a.mean(-1, keepdim=True)"},
        ),
        ("return torch.flip(a, b)", {"return a", "return torch.flip(b, a)", "return torch.flip(a)"}),
        ("return a and not b", {"return a or not b", "return a", "return a and b", "return not b"}),
        ("return a if b else 1", {"return a if True else 1", "return a if False else 1"}),
        ("return [i for i in a]", {"return [i for i in [*a][1:]]", "return [i for i in [*a][:-1]]"}),
        ("a.zero_(b)", {"pass", "a", "b.zero_(b)"}),
        ("a = torch.zeros(2, dtype=torch.float32)", {"a = torch.zeros(2, dtype=torch.float64)", "a = torch.zeros(2)"}),
        ("return torch.einsum('ij,jk->ik', a, b)", {"return torch.einsum('ij,jk->ki', a, b)"}),
        ("return torch.max(a, b)", {"return torch.min(a, b)"}),
    ],
)
def test_a_change_of_every_kind_is_made(body, expected):
    assert expected <= changed(body)


def test_a_context_is_entered_no_more():
    (made,) = [
        m for m in mutants({"base": "def f(a):\n    with torch.no_grad():\n        g(a)"}) if "if True" in m.code
    ]
    assert made.edit.endswith("with torch.no_grad(): -> if True:")


def test_what_cannot_matter_is_left_alone():
    edits = [mutant.edit for mutant in mutants({"base": ANSWER})]
    assert edits
    assert not [edit for edit in edits if "What" in edit or ("dimensions" in edit and "-> pass" not in edit)]
    assert not [edit for edit in edits if "torch.Tensor" in edit]
    assert "torch.max(b, a)" not in str(changed("return torch.max(a, b)"))


def test_every_tree_is_made_once_and_no_known_one():
    bases = {"one": "def f(a):\n    return a + 1", "other": "def f(a):\n    return a + 1  # the same"}
    made = mutants(bases, known=["def f(a):\n    '''Known.'''\n    return a - 1"])
    codes = [mutant.code for mutant in made]
    assert len(set(codes)) == len(codes)
    assert {mutant.base.split()[0] for mutant in made} == {"one"}
    assert normal("def f(a): return a - 1") not in codes
    assert all(ast.dump(ast.parse(code)) != ast.dump(ast.parse(bases["one"])) for code in codes)


def test_names_hold_as_long_as_the_text_does():
    (one, *_), (other, *_) = (
        mutants({"base": code}) for code in ("def f(a):\n    return -a", "def f(a):\n    return - -a")
    )
    assert str(one) == str(mutants({"base": "def f(a):\n    return -a  # the same tree"})[0])
    assert one.base != other.base


def test_a_sample_of_one_base_does_not_depend_on_later_ones():
    bases = {name: f"def f(a, b):\n    return a * {number} + b" for name, number in (("one", 5), ("two", 90))}
    both = {str(mutant) for mutant in sampled(mutants(bases), 3)}
    assert len(both) == 6
    assert {str(mutant) for mutant in sampled(mutants({"one": bases["one"]}), 3)} <= both
