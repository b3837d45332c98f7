"""All exceptions that `grading` raises on purpose.

    GradingError
    ├── CourseError                 a course's directory, settings or texts
    │   ├── NoCourseError           no course directory here or above
    │   ├── BuildError              a lesson's text breaks a rule
    │   ├── ExerciseError           a fault in grader_tests
    │   ├── EditError               an edit that does not fit an answer's text
    │   ├── CheckDataError          a contract that cannot be shipped as data
    │   ├── EquivalentsFileError    an equivalent.toml that cannot be read
    │   ├── SiteError               the web site cannot be made
    │   ├── CourseFileError         course.toml is not valid
    │   ├── ConfigFileError         nbgrader_config.py cannot be used
    │   ├── SettingError            a setting that no class has
    │   ├── RubricError             a rubric that cannot be used
    │   └── CommentBankError        the bank of comments cannot be read
    ├── StepFailed                  a step of a term cannot be done
    ├── CourseLocked                another process is grading this course
    ├── CannotWrite                 grades cannot be written
    ├── ClusterLost                 the Dask cluster can grade no more
    ├── SubmissionNotGraded         our fault, to be tried again
    │   └── InvalidResult           a cluster worker returned something other than a grade
    ├── NotHandedIn                 a submission without the lesson's notebook
    ├── Unreadable                  a submitted file that cannot be read as a notebook
    ├── JudgeFailed                 the judge ended because of what it read
    ├── KernelDied                  the kernel is gone
    ├── KernelStarved               the machine did not let the kernel run
    ├── NoAnswer                    a call returned nothing
    ├── MalformedReply              a kernel's reply that is not an observation
    ├── MalformedMessage            a judge's message that cannot be read
    ├── ConnectionBroken            a kernel's connection that cannot be read any further
    ├── ArchiveError                a file or archive from an LMS that is left unread
    │   ├── OverBudget              a submission larger than allowed
    │   └── AmbiguousOwner          one submission that seems to be several people's
    ├── IdentityTableError          the table of student ids cannot be read
    ├── GradebookCsvError           an LMS's gradebook file that cannot be filled
    ├── CanvasError                 Canvas refuses, or cannot be reached
    ├── CsvExportError              a CSV export of something that is not in the gradebook
    ├── UsageError                  arguments that do not fit together
    ├── MissingExtra                packages of an extra are not installed
    ├── ReviewError                 the review page asks for what is not possible
    ├── Conflict                    somebody else changed what was to be written
    └── ChoiceTableError            the table of choices cannot be read

The first argument is the message, for a person; all survive pickling, since they cross processes. The sandbox's
exceptions (`grading.sandbox`) and those of `course` are not in this tree: those packages import nothing of ours.
"""

from __future__ import annotations


class GradingError(Exception):
    """An intentional error of `grading`: what happened, where, and what to do."""


class CourseError(GradingError):
    """A fault in the course's directory; the message names it and the remedy."""


class NoCourseError(CourseError):
    """There is no course directory here; the message explains what one is."""


class BuildError(CourseError):
    """A lesson's text breaks a rule of docs/authors.md.

    The message names the file, the cell and the remedy.
    """


class ExerciseError(CourseError):
    """A fault that an author must fix, in one line: file in grader_tests, line, fault."""


class EditError(CourseError):
    """An edit does not fit its text; the message names the edit and what is wrong with it."""


class CheckDataError(CourseError):
    """A contract contains something that cannot be shipped as data.

    The message names the exercise, the case and the remedy.
    """


class EquivalentsFileError(CourseError):
    """The list of equivalent mutants cannot be read; the message names file and fault."""


class SiteError(CourseError):
    """The site cannot be made; the message says what is wrong."""


class CourseFileError(CourseError):
    """course.toml is not valid: one line per problem, with its place in the file."""


class ConfigFileError(CourseError):
    """nbgrader_config.py cannot be run."""


class SettingError(CourseError):
    """An unknown setting or an invalid value; the message suggests what may be meant."""


class RubricError(CourseError):
    """A rubric's file cannot be read, or a new rubric cannot be used; the message says why."""


class CommentBankError(CourseError):
    """The bank of comments cannot be read or a comment cannot be kept; the message says why."""


class StepFailed(GradingError):
    """A step of a term cannot be done; the message says why and what to do."""


class CourseLocked(GradingError):
    """Another process is grading this course; the message says whose."""


class CannotWrite(GradingError):
    """Grades cannot be written, so none is made; the message says why, and what is kept."""


class ClusterLost(GradingError):
    """Nothing more can be graded on the cluster; the message says why."""


class SubmissionNotGraded(GradingError):
    """The judge was lost, not because of the submission. To be tried again."""


class InvalidResult(SubmissionNotGraded):
    """A worker on another machine returned something other than the grade asked for."""


class NotHandedIn(GradingError):
    """The submission has no notebook of the lesson; the message says what it has."""


class Unreadable(GradingError):
    """The file is not a readable notebook; `args[0]` explains why and what to do."""


class JudgeFailed(GradingError):
    """The judge ended because of the file that it read.

    The message completes the sentence "the judge …".
    """


class KernelDied(GradingError):
    """The kernel is gone; the message says why, in words for the learner."""


class KernelStarved(GradingError):
    """The machine did not let the kernel run, so the answer could not be judged."""


class NoAnswer(GradingError):
    """A call produced no observation: no time or memory left, or the kernel died.

    The message explains why, for the learner.
    """


class MalformedReply(GradingError):
    """A kernel's reply is not an observation."""


class MalformedMessage(GradingError):
    """A message from a judge is too large, or is not a message."""


class ConnectionBroken(GradingError):
    """The kernel closed the connection, or sent something that must not be read."""


class ArchiveError(GradingError):
    """A file or archive from an LMS is left unread; `args[0]` says why."""


class OverBudget(ArchiveError):
    """The whole submission is larger than its budget."""


class AmbiguousOwner(ArchiveError):
    """A plain folder seems to be several people's submission."""


class IdentityTableError(GradingError):
    """The table of student ids cannot be read; the message says where, and what to do."""


class GradebookCsvError(GradingError):
    """The LMS's gradebook file cannot be filled; the message says why and what to do."""


class CanvasError(GradingError):
    """Canvas refused, could not be reached, or has no such assignment; the message says which."""


class CsvExportError(GradingError):
    """A requested student or lesson is not in the gradebook; the message lists its own."""


class UsageError(GradingError):
    """Arguments that do not fit together; the message says what is missing."""


class MissingExtra(GradingError):
    """Packages of an extra are missing; the message has the command that installs them."""


class ReviewError(GradingError):
    """The page asked for something that is not there or not possible; the message says what."""


class Conflict(GradingError):
    """Somebody else changed the data to be written, so nothing is written.

    `args[1]`: ids of the submitted notebooks.
    """


class ChoiceTableError(GradingError):
    """The table of choices cannot be read; the message says where, and what to do."""
