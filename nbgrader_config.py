"""nbgrader's configuration: class names and paths, no logic."""

c = get_config()

# Reads course.toml; the lines below override it
from grading.course_dir.course_config import course_settings  # noqa: E402

c.merge(course_settings(__file__))

# Sources are beside, never inside, an assignment's folder; if one were inside, it would still not be released. Students
# hand in the package's wheel with the folder that they fetched
c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", ".pytest_cache", "*.py", ".git*", "*.whl"]

c.Execute.skip_cells_with_tag = ""

# Writes a release beside the old one, then swaps the two
c.GenerateAssignment.exporter_class = "grading.nbgrader_plugins.release_exporter.ReleaseExporter"

# A judge, in a process of its own, reads and runs submissions (docs/judging.md); this one gets sanitized results only
c.Autograde.exporter_class = "grading.nbgrader_plugins.submission_exporter.SubmissionExporter"
c.Autograde.sanitize_preprocessors = [
    "nbgrader.preprocessors.DeduplicateIds",
    "nbgrader.preprocessors.OverwriteKernelspec",
    "nbgrader.preprocessors.OverwriteCells",
    "nbgrader.preprocessors.CheckCellMetadata",
]
c.OverwriteCells.add_missing_cells = True
c.Autograde.autograde_preprocessors = [
    "grading.nbgrader_plugins.execute.JudgedExecute",
    "nbgrader.preprocessors.IgnorePattern",
    "nbgrader.preprocessors.LimitOutput",
]

# The penalty for late submissions: c.LatePolicy.policy (docs/teachers.md)
c.AssignLatePenalties.plugin_class = "grading.nbgrader_plugins.late_policy.LatePolicy"

c.GenerateFeedback.exporter_class = "grading.nbgrader_plugins.feedback_exporter.FeedbackExporter"
c.GenerateFeedback.preprocessors = []
c.ExchangeFactory.release_assignment = "grading.plugins.hub.exchange_release.ReleaseAssignment"
c.ExchangeFactory.collect = "grading.plugins.hub.exchange_collect.Collect"
c.ExchangeFactory.release_feedback = "grading.plugins.hub.release_feedback.ReleaseFeedback"

c.ExportApp.plugin_class = "grading.nbgrader_plugins.csv_exporters.GradesCsvExporter"

c.ZipCollectApp.extractor_plugin = "grading.plugins.lms.zip_collect.TolerantExtractor"
c.ZipCollectApp.collector_plugin = "grading.plugins.lms.zip_collect.DownloadCollector"
