"""The CPU seconds of the tests and of every process that they start, printed last (pytest plugin).

`make test` has a budget (CONTRIBUTING.md). With `--shares` a file that takes more than `SHARE` of all tests' seconds is
named, and in CI the run fails, so that the suite cannot grow back unseen. Shared fixtures are counted apart: which file
pays for them is chance.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path

import pytest

SHARE = 0.03
SLOWEST = 10  # tests listed
MAY_TAKE_MORE = {  # file -> its share, and the reason
    "tests/test_architecture.py": (0.12, "the type checker reads both packages, in a fresh clone without a cache"),
    "tests/plugins/hub/test_attempts.py": (0.05, "grades several submissions of a student in turn"),
    "tests/plugins/hub/test_exchange_trust.py": (0.05, "collects and grades what others put into the exchange"),
    "tests/coordinator/test_grade_class.py": (0.05, "the main job, with workers and with nbgrader's own command"),
    "tests/course/notebook/test_every_report.py": (0.05, "checks every known answer of a lesson"),
}
TEST, FIXTURES = "CPU seconds", "CPU seconds of shared fixtures"  # properties of a test's last report
TICK = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


def cpu_seconds() -> float:
    """The CPU seconds of this process, of its descendants, and of those that ended and were waited for."""
    return sum(os.times()[:4]) + sum(map(_of_process, _descendants(os.getpid())))


def _descendants(pid: int) -> Iterator[int]:
    for thread in _threads(pid):
        for child in map(int, _text(f"/proc/{pid}/task/{thread}/children").split()):
            yield child
            yield from _descendants(child)


def _threads(pid: int) -> list[str]:
    try:
        return os.listdir(f"/proc/{pid}/task")
    except OSError:  # a process that has ended
        return []


def _text(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:  # a process or thread that has ended
        return ""


def _of_process(pid: int) -> float:
    fields = _text(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / TICK  # utime, stime, and both of its children (proc(5))


class Meter:
    """Counts in the process that runs tests."""

    def __init__(self) -> None:
        self.last, self.fixtures = 0.0, 0.0

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self) -> None:
        self.last = cpu_seconds()  # no test pays for imports and collection

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object]) -> Generator[None, object, object]:
        if fixturedef.scope == "function":
            return (yield)
        before, within = cpu_seconds(), self.fixtures
        try:
            return (yield)
        finally:
            self.fixtures = within + cpu_seconds() - before  # with the fixtures that this one asked for, once

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if call.when == "teardown":
            now = cpu_seconds()
            spent = max(0.0, now - self.last - self.fixtures)  # a process that left its parent takes its seconds along
            report.user_properties += [(TEST, spent), (FIXTURES, self.fixtures)]
            self.last, self.fixtures = now, 0.0
        return report


class Summary:
    """Adds up what the processes counted, and prints it."""

    def __init__(self) -> None:
        self.tests: Counter[str] = Counter()
        self.fixtures = 0.0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        properties = dict(report.user_properties)
        self.tests[report.nodeid] += properties.get(TEST, 0.0)
        self.fixtures += properties.get(FIXTURES, 0.0)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        wanted = session.config.getoption("shares") and "CI" in os.environ
        if wanted and too_long(self.tests) and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter, config: pytest.Config
    ) -> Generator[None, None, None]:
        yield  # the list of what was skipped is long, and a CI server may keep the end only
        terminalreporter.section("CPU seconds")
        for test, seconds in self.tests.most_common(SLOWEST):
            terminalreporter.line(f"{seconds:7.1f}  {test}")
        for line in too_long(self.tests) if config.getoption("shares") else ():
            terminalreporter.line(line)
        tests = sum(self.tests.values())
        terminalreporter.line(
            f"{cpu_seconds():.0f} CPU seconds: {tests:.0f} for tests, {self.fixtures:.0f} for shared fixtures, and the "
            "rest for starting and collecting."
        )


def too_long(tests: Mapping[str, float]) -> list[str]:
    """A line for each file that takes more of all tests' seconds than it may."""
    files: Counter[str] = Counter()
    for test, seconds in tests.items():
        files[test.partition("::")[0]] += seconds
    allowed = {file: MAY_TAKE_MORE.get(file, (SHARE, ""))[0] for file in files}
    all_files = sum(files.values())
    return [
        f"{file} takes {seconds / all_files:.1%} of the tests' CPU seconds, and may take {allowed[file]:.0%}. Make it "
        "quicker, or leave a part to `make test-all` (CONTRIBUTING.md)."
        for file, seconds in files.most_common()
        if seconds > allowed[file] * all_files
    ]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--shares", action="store_true", help="name each file that takes too much of the CPU seconds")


def pytest_configure(config: pytest.Config) -> None:
    is_worker = hasattr(config, "workerinput")
    if is_worker or not config.getoption("numprocesses", None):
        config.pluginmanager.register(Meter(), "cpu_meter")
    if not is_worker:
        config.pluginmanager.register(Summary(), "cpu_summary")
