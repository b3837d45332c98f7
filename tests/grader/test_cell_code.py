"""What a cell's code defines and binds, as IPython would run it, within bounds of length and depth."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from threading import Thread, current_thread, main_thread

import pytest

from grading.grader import cell_code
from grading.grader.cell_code import bound_names, defines, parse, same_code


@pytest.mark.parametrize(
    ("source", "answer"),
    [
        ("def f(x):\n    return x", True),
        ("class f:\n    pass", True),
        ("f = lambda x: x", True),
        ("from torch import softmax as f", True),
        ("try:\n    import g\nexcept ImportError:\n    f = None", True),
        ("%matplotlib inline\ndef f(): pass", True),
        ("def f(x):\n    return (x", True),  # not Python, but plainly meant as f
        ("def g():\n    f = 1", False),
        ("f(3)", False),
        ("# def f(x)", False),
        ("", False),
        ("(" * 5000, False),
    ],
)
def test_which_cells_define_a_name(source: str, answer: bool) -> None:
    assert defines(source, "f") is answer


def test_same_code_ignores_comments_and_blank_lines_only() -> None:
    assert same_code("check(f)\n", "\ncheck(f)  # done")
    assert not same_code("check(f)", "check(g)")
    assert not same_code("", "check(f)")
    assert not same_code("# check(f)", "check(f)")


# What IPython makes of a cell is what counts; here it is asked. No two cells bind the same name.
RUN_BY_IPYTHON = [
    "a0 = 1\na0?",
    "?print\na1 = 1",
    "print??\na2 = 1",
    "a3 = !echo one",
    "!echo two\na4 = 1",
    "%matplotlib --list\na5 = 1",
    "%%time\na6 = 1",
    "%%time\n%time a7 = 1",
    "%%time --no-raise-error\na8 = 1",
    "%%capture\n%%time\na9 = 1",
    "%%prun -q\nb0 = 1",
    "%prun -q -s cumulative b1 = 1",
    "%time b2 = 1; b3 = 2",
    "b4 = %time 3 + 4",
    "def b5(x):\n    y = %time x + 1\n    return y\nb6 = b5(1)",
    "if True:\n    b7 = 1\n    %time b8 = 2",
    "time b9 = 1",
    "In [1]: c0 = 1",
    ">>> def c1():\n...     return 1",
    "  %%time\n  c2 = 1",
    "\n\n%%time\nc3 = 1",
    "%time for c4 in range(2): pass",
    "c5 = print\n/c5 1 2\n,c5 a b\n;c5 a b",
    "await __import__('asyncio').sleep(0)\nc6 = 1",
    "c7 = (1\n% 2)\nc8 = \\\n!echo three",
    'c9 = """\n%time no\n!no\n"""\nc9?',
    "%%timeit -n1 -r1\nd0 = 1",
    "%timeit -n1 -r1 d1 = 1",
    "%%bash\nd2=1",
    "%%python\nd3 = 1",
    "%%html\n<p>d4 = 1",
    "%%no_such_magic\nd5 = 1",
    "d6 = 1\ndef broken(:\n",
    "d7 = 1; !echo four",
    "capture d8 = 1",
    "d9 = !",
    "%",
    "?",
    "a = %",
]


@pytest.mark.full
def test_a_cell_binds_the_same_names_as_in_ipython(tmp_path):
    code = (
        "import json, sys\n"
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell, bound = InteractiveShell(), []\n"
        "for cell in json.loads(sys.argv[1]):\n"
        "    before = set(shell.user_ns)\n"
        "    shell.run_cell(cell)\n"
        "    bound.append(sorted(n for n in set(shell.user_ns) - before if not n.startswith('_')))\n"
        "print()\n"
        "print(json.dumps(bound))\n"
    )
    command = [sys.executable, "-c", code, json.dumps(RUN_BY_IPYTHON)]
    given = {"env": {**os.environ, "IPYTHONDIR": str(tmp_path), "MPLBACKEND": "agg"}, "stdin": subprocess.DEVNULL}
    done = subprocess.run(command, **given, capture_output=True, text=True, check=True)
    bound = json.loads(done.stdout.splitlines()[-1])
    read = [sorted(bound_names(tree)) if (tree := parse(cell)) else [] for cell in RUN_BY_IPYTHON]
    assert dict(zip(RUN_BY_IPYTHON, read, strict=True)) == dict(zip(RUN_BY_IPYTHON, bound, strict=True))
    assert ["c7", "c8"] in read


def test_a_line_of_ipythons_own_is_a_call():
    assert ast.unparse(parse("!ls\n%cd x\nf?\n%timeit f(1)")).splitlines() == [
        "get_ipython().system('ls')",
        "get_ipython().run_line_magic('cd', 'x')",
        "get_ipython().run_line_magic('pinfo', 'f')",
        "get_ipython().run_line_magic('timeit', 'f(1)')",
    ]


@pytest.mark.parametrize(
    "source",
    [
        "x" * (cell_code.MAX_PARSED + 1),
        "(" * 5_000,
        "-" * 100_000,
        "if x:\n y\n" + "elif x:\n y\n" * 10_000,
        "a" + ".a" * 50_000,
        "%a\n" * 50_000,
        "%a\n" + "'\\" * 50_000,
        "%a\n" + "a.a" * 50_000 + "?x?",
        "%%time\n" * 20_000 + "f = 1",
        "%time " + "-a " * 50_000,
        "\x00",
        "\ud800",
        "9" * 5_000,
    ],
    ids=lambda source: repr(source[:10]),
)
def test_what_is_too_long_or_too_deep_is_not_read_and_stops_nothing(source):
    tree = parse(source)
    assert tree is None or not bound_names(tree)
    assert not defines(source, "f")


def test_a_cell_is_parsed_once_however_often_it_is_read(monkeypatch):
    parsed, real = [], ast.parse
    monkeypatch.setattr(cell_code.ast, "parse", lambda source: parsed.append(source) or real(source))
    for _ in range(3):
        parse("once = 1")
        defines("once = 1", "once")
    assert parsed == ["once = 1\n"]


def test_no_more_trees_are_kept_than_a_class_of_honest_notebooks_needs():
    for number in range(20):
        parse(f"x = {number:<{cell_code.MAX_KEPT // 10}}")
    assert sum(map(len, cell_code.kept_trees)) <= cell_code.MAX_KEPT


class Source(str):
    """A cell during whose measuring another thread parses one more."""

    def __len__(self):
        if current_thread() is main_thread():
            thread = Thread(target=parse, args=("added = 1",))
            thread.start()
            thread.join()
        return super().__len__()


class SharedTrees(dict):
    """Trees that another thread clears as soon as one of a certain cell is stored."""

    def __setitem__(self, source, tree):
        super().__setitem__(Source(source), tree)
        if source == "cleared = 1":
            self.clear()


def test_threads_may_parse_at_the_same_time(monkeypatch):
    monkeypatch.setattr(cell_code, "kept_trees", SharedTrees())
    for name in ("cleared", "first", "second"):
        assert bound_names(parse(f"{name} = 1")) == {name}
    assert set(cell_code.kept_trees) == {"first = 1", "added = 1", "second = 1"}
