"""Grade submissions in nbgrader's exchange as they arrive (`grading watch`).

A round is for one lesson. The students, and then the lessons, whose last turn was longest ago come first, and then the
submissions that have waited longest. The round collects them, grades them like `grading grade`, writes their feedback
pages and releases these to the exchange. Each round reads from the exchange and the gradebook what waits, so a killed
service loses nothing: the next one finds the same submissions.

Neither the log nor the state names a student or quotes an answer. Does not cover: the exchange (`exchange`).
"""

from __future__ import annotations

import signal
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Event

from grading.coordinator.grade_class import grade_class
from grading.coordinator.gradebook_writer import STOPS
from grading.coordinator.progress import describe_error, log_above
from grading.coordinator.write_feedback import write_feedback
from grading.course import Course
from grading.course_dir.course_folder import exposure
from grading.cpu_count import cpu_count
from grading.errors import CannotWrite, CourseLocked, GradingError, StepFailed
from grading.extras import demand_extra
from grading.gradebook.lock import exclusive
from grading.safe_console import SafeConsole
from grading.safe_text import one_line, plural, say
from grading.sandbox import SandboxUnavailable, require

from .attempts import AttemptLimits
from .exchange import CourseExchange, ExchangeSubmission
from .watch_page import PageAddress, serve_page
from .watch_state import WatchState, in_seconds, now, only_watch

BATCH = 4  # submissions per worker in a round: other commands can run between two rounds
ON_CLUSTER = 100  # submissions in a round on a cluster, whose workers come and go
LONGEST = 300.0  # seconds between two tries after an error
KEPT = 1000  # waiting times that are kept
BLOCKED = "waiting for another command"

COLLECT = "not collected: run `nbgrader collect {lesson} --update` to see why"
GRADE = "not graded: run `grading grade {lesson}` to see why"
WRITE = "graded, but without a feedback page: run `grading feedback {lesson}` to see why"
RELEASE = "graded, but the page was not released: run `nbgrader release_feedback {lesson}` to see why"


@dataclass
class _Delay:
    """When to try again after one or more errors; `what` describes the last one."""

    what: str = ""
    seconds: float = 0.0
    until: float = 0.0  # by time.monotonic

    def extend(self, what: str, shortest: float) -> None:
        self.what, self.seconds = what, min(LONGEST, max(shortest, 2 * self.seconds))
        self.until = time.monotonic() + self.seconds

    @property
    def over(self) -> bool:
        return time.monotonic() >= self.until


@dataclass
class Watch:
    """The service for one course. Each look and each round reads the settings again.

    lessons    lessons to watch (default: all in the gradebook)
    workers    number of submissions graded at once, and of pages written at once (default: one per processor)
    every      seconds between two looks at the exchange
    page       where to serve a page with the state (default: nowhere)
    scheduler  address of a Dask cluster that grades instead of this machine
    """

    root: Path
    lessons: Collection[str] = ()
    workers: int = 0
    every: float = 5.0
    unsandboxed: bool = False
    page: PageAddress | None = None
    scheduler: str = ""
    state: WatchState = field(default_factory=WatchState)
    _failed: dict[Path, _Delay] = field(default_factory=dict)  # submissions by their folder in the exchange
    _held: set[Path] = field(default_factory=set)  # held back at some time: their waits say nothing about the service
    _error: _Delay = field(default_factory=_Delay)  # an error that is not one submission's
    _waited: deque[float] = field(default_factory=lambda: deque(maxlen=KEPT))
    _rounds: int = 0
    _served: dict[str, int] = field(default_factory=dict)  # the last round of each student
    _served_lessons: dict[str, int] = field(default_factory=dict)
    _stop: Event = field(default_factory=Event)

    def run(self, *, once: bool = False) -> bool:
        """Work until a signal stops it; returns whether nothing failed in the end.

        once  try each waiting submission, then return

        Raises StepFailed if there is no exchange, other accounts can open the course, or the page's port is taken,
        SandboxUnavailable if this machine cannot confine student code, and CourseLocked if the course is watched
        already. Later errors are reported and tried again.
        """
        course = self._course()
        place, self.state.timezone = CourseExchange(course).place, course.zone.key
        if problem := exposure(self.root):
            if course.config.ExchangeCollect.get("check_owner", True):  # students have accounts of their own
                raise StepFailed(f"nothing is graded: {problem}")
            self._log(f"warning: {problem}")
        if self.scheduler:
            demand_extra("cluster", "Grading on a cluster")
        elif course.sandboxed:
            require()
        with only_watch(self.root), _stop_between_steps(self._stop), self._page() as page:
            self._log(f"watching {place}" + (f"; its state is at {page}" if page else ""))
            while not self._stop.is_set():
                busy = self._round()
                if once and not busy and self.state.doing != BLOCKED:
                    break
                if not busy:
                    self._stop.wait(self.every)
            self._tell("stopped")
            self._log("stopped")
        return not self.state.errors

    def retry_now(self) -> None:
        """Try what failed at the next look."""
        for delay in [self._error, *self._failed.values()]:
            delay.until = 0.0

    @contextmanager
    def _page(self) -> Iterator[PageAddress | None]:
        """Serve the page, if it is wanted, beginning with the state of this process."""
        self._tell("waiting for submissions")
        with serve_page(self.page, self.root) as page:
            yield page

    def _round(self) -> bool:
        """Handle the submissions whose turn it is; returns whether there were any."""
        chosen: list[ExchangeSubmission] = []
        if not self._error.over:
            return False
        try:
            if not self._choose():
                self._error = _Delay()
                self._tell("waiting for submissions")
                return False
            with exclusive(self.root):
                self._tell("working")
                chosen = self._choose()  # another command may have graded some of them
                self._handle(chosen)
        except CourseLocked as locked:
            if self.state.doing != BLOCKED:
                self._log(f"{BLOCKED}: {locked}")
            self._tell(BLOCKED)
            return False
        except Exception as error:  # a service goes on after any error
            self._error.extend(_without_names(error), self.every)
            self._log(f"error, next try in {self._error.seconds:.0f} s: {self._error.what}")
            self._put_off(chosen, GRADE)
            self._tell("waiting after an error")
            return False
        self._error = _Delay()
        self._tell("working")
        return True

    def _choose(self) -> list[ExchangeSubmission]:
        """The submissions for the next round, all of one lesson."""
        course = self._course()
        exchange, limits = CourseExchange(course), AttemptLimits(course)
        waiting = exchange.waiting(self.lessons, limits.best)
        folders = {submission.folder for submission in waiting} | exchange.refused.keys()
        self._failed = {folder: delay for folder, delay in self._failed.items() if folder in folders}
        self._report_refused(exchange.refused)
        self.state.waiting = len(waiting)
        put_off = {folder for folder, delay in self._failed.items() if not delay.over}
        put_off |= self._held_back(exchange, limits, waiting)
        due = [submission for submission in waiting if submission.folder not in put_off]
        new = {(submission.student, submission.lesson) for submission in due if not submission.again}
        due = [
            submission  # a student's new submission comes first
            for submission in due
            if not submission.again or (submission.student, submission.lesson) not in new
        ]
        due.sort(key=lambda one: (self._served.get(one.student, 0), self._served_lessons.get(one.lesson, 0)))
        of_one_lesson = [submission for submission in due if submission.lesson == due[0].lesson]
        return of_one_lesson[: ON_CLUSTER if self.scheduler else BATCH * (self.workers or cpu_count())]

    def _held_back(
        self, exchange: CourseExchange, limits: AttemptLimits, waiting: list[ExchangeSubmission]
    ) -> set[Path]:
        """The folders of submissions over a limit of attempts; tells their students until when."""
        held = set[Path]()
        for submission in waiting:
            if until := limits.held_until(submission):
                held.add(submission.folder)
                with suppress(Exception):  # such as a full disk; it is held back without a notice
                    exchange.hold(submission, limits.notice(submission, until))
        self.state.held_back = len(held)
        self._held |= held
        return held

    def _report_refused(self, refused: Mapping[Path, str]) -> None:
        """Put entries that are not taken for submissions into the state, and log new ones."""
        new = Counter[str]()
        for folder in refused:
            what = COLLECT.replace("{lesson}", folder.name.rsplit("+", 3)[1])
            new[what] += folder not in self._failed
            self._failed[folder] = _Delay(what, until=time.monotonic() + self.every)
        for what, number in (+new).items():
            self._log(f"{plural(number, 'submission')} {what}")

    def _handle(self, chosen: list[ExchangeSubmission]) -> None:
        """Collect and grade submissions of one lesson, and release their feedback."""
        self._rounds += 1
        for submission in chosen:
            self._served[submission.student] = self._served_lessons[submission.lesson] = self._rounds
        begun, quiet = time.monotonic(), SafeConsole(quiet=True)
        with log_above(quiet):  # messages may name students
            course = self._course()
            exchange = CourseExchange(course)
            collected = self._each(chosen, exchange.collect, COLLECT)
            best = AttemptLimits(course).best
            for submission in collected:
                exchange.limit_kept(submission, best)
            graded = [] if self._stop.is_set() else self._graded(course, collected, quiet)
            AttemptLimits(course).count(graded)  # before the release: what has feedback is counted
            written = [] if self._stop.is_set() else self._written(course, graded, quiet)
            released = self._each(written, exchange.release, RELEASE)
        if not chosen or (self._stop.is_set() and not released):
            return
        new = [submission for submission in released if not submission.again and submission.folder not in self._held]
        self._waited.extend(map(_age, new))
        self.state.waited_seconds = in_seconds(self._waited)
        self.state.released += len(released)
        seconds, lesson = round(time.monotonic() - begun, 1), chosen[0].lesson
        about = {"lesson": lesson, "submissions": len(chosen), "released": len(released), "seconds": seconds}
        self.state.last_round = {"at": now(), **about}
        self._log(f"{lesson}: feedback for {len(released)} of {plural(len(chosen), 'submission')}, in {seconds} s")
        for what, number in self._failures(chosen).items():
            self._log(f"{plural(number, 'submission')} {what}")

    def _graded(
        self, course: Course, collected: list[ExchangeSubmission], quiet: SafeConsole
    ) -> list[ExchangeSubmission]:
        if not collected:
            return []
        lesson, students = collected[0].lesson, {submission.student for submission in collected}
        outcome = grade_class(
            course, [lesson], quiet, students=students, workers=self.workers, scheduler=self.scheduler
        )
        done = {student for _, student in [*outcome.graded, *outcome.up_to_date]}
        return self._each(
            collected, lambda submission: submission.student in done, outcome.failed.get((lesson, ""), GRADE)
        )

    def _written(
        self, course: Course, graded: list[ExchangeSubmission], quiet: SafeConsole
    ) -> list[ExchangeSubmission]:
        if not graded:
            return []
        pages: dict[str, str] = {}
        write_feedback(
            course,
            [graded[0].lesson],
            quiet,
            students={submission.student for submission in graded},
            workers=self.workers,
            report=lambda record: pages.update({record["student"]: record["page"]}),
        )
        return self._each(graded, lambda submission: bool(pages.get(submission.student)), WRITE)

    def _each(
        self, every: list[ExchangeSubmission], step: Callable[[ExchangeSubmission], bool], failure: str
    ) -> list[ExchangeSubmission]:
        """Do a step for each submission; returns those for which it succeeded, and puts off the others."""
        done = []
        for submission in every:
            what = failure
            try:
                if step(submission):
                    done.append(submission)
                    continue
            except StepFailed as error:
                what = str(error)
            except Exception:  # nbgrader raises various ones; one submission must not stop the others
                pass
            self._put_off([submission], what)
        return done

    def _put_off(self, failed: Iterable[ExchangeSubmission], failure: str) -> None:
        for submission in failed:
            self._failed.setdefault(submission.folder, _Delay()).extend(
                failure.replace("{lesson}", submission.lesson), self.every
            )

    def _failures(self, of: Iterable[ExchangeSubmission]) -> Counter[str]:
        return Counter(self._failed[submission.folder].what for submission in of if submission.folder in self._failed)

    def _tell(self, doing: str) -> None:
        """Write the state."""
        groups: dict[str, list[float]] = {}
        for delay in [self._error, *self._failed.values()]:
            if delay.what:
                groups.setdefault(delay.what, []).append(delay.until)
        moment = time.monotonic()
        self.state.doing = doing
        self.state.errors = [
            {
                "what": what,
                "submissions": len(again) if what != self._error.what else 0,
                "again_at": now(min(again) - moment),
            }
            for what, again in groups.items()
        ]
        with suppress(OSError):  # such as a full disk, which grading reports
            self.state.write(self.root)

    def _course(self) -> Course:
        """The course with its settings as they are now."""
        return Course(self.root, unsandboxed=self.unsandboxed)

    def _log(self, text: str) -> None:
        say(f"{datetime.now().astimezone():%Y-%m-%d %H:%M:%S} {one_line(text)}", flush=True)


@contextmanager
def _stop_between_steps(stop: Event) -> Iterator[None]:
    """Let the first signal to stop only set `stop`; a second one raises KeyboardInterrupt."""

    def request(*_: object) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    numbers = [getattr(signal, name) for name in STOPS if hasattr(signal, name)]
    before = {
        number: signal.signal(number, request) for number in numbers if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _age(submission: ExchangeSubmission) -> float:
    return max(0.0, datetime.now(UTC).timestamp() - submission.at.replace(tzinfo=UTC).timestamp())


def _without_names(error: Exception) -> str:
    """Describe an error without the text of a foreign one, which may name a student or a file of theirs."""
    if isinstance(error, GradingError | SandboxUnavailable) and not isinstance(error, CannotWrite):
        return " ".join(str(error).split())
    return describe_error(error.__cause__ or error)
