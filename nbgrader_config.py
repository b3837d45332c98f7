"""nbgrader's configuration: class names and paths, no logic."""

c = get_config()

c.CourseDirectory.course_id = "attention"
# Sources lie beside, never inside, an assignment's folder; were one inside, it would still not be released
c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", ".pytest_cache", "*.py", ".git*"]

c.ExecutePreprocessor.timeout = 30
c.Execute.skip_cells_with_tag = ""

c.Autograde.exporter_class = "grading.nbgrader_plugins.reading.SubmissionExporter"
c.Autograde.sanitize_preprocessors = [
    "grading.nbgrader_plugins.repair.RepairSubmission",
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.DeduplicateIds",
    "nbgrader.preprocessors.OverwriteKernelspec",
    "nbgrader.preprocessors.OverwriteCells",
    "nbgrader.preprocessors.CheckCellMetadata",
    "grading.nbgrader_plugins.clean.CleanSubmission",
]
c.OverwriteCells.add_missing_cells = True
c.Autograde.autograde_preprocessors = [
    "grading.nbgrader_plugins.execute.JudgedExecute",
    "nbgrader.preprocessors.IgnorePattern",
    "nbgrader.preprocessors.LimitOutput",
    "grading.nbgrader_plugins.execute.SaveVerdicts",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
    "grading.nbgrader_plugins.clean.CleanGraded",
]

c.GenerateFeedback.exporter_class = "grading.nbgrader_plugins.feedback.FeedbackExporter"
c.GenerateFeedback.preprocessors = ["grading.nbgrader_plugins.feedback.RemoveHiddenTests"]

c.ZipCollectApp.extractor_plugin = "grading.nbgrader_plugins.collect.TolerantExtractor"
c.ZipCollectApp.collector_plugin = "grading.nbgrader_plugins.collect.DownloadCollector"
