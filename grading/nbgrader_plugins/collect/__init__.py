"""Collects what a learning platform lets a teacher download: `nbgrader zip_collect <lesson>`.

    downloaded/<lesson>/archive/     what was downloaded: zips, folders, single files
    downloaded/<lesson>/extracted/   one notebook of each student, under names of our own
    submitted/<student>/<lesson>/<lesson>.ipynb

`names` says whose a file is, by the name that the platform gave, and which notebook it is, by the name that the
student gave. `people` finds the student's id. `archives` lists files of folders and archives within a budget.
`submission` holds what one person handed in and chooses what counts. `plugins` are the two classes that nbgrader calls.

Two rules hold whatever an archive contains. **Identity** comes from the outermost name alone: the top level of the zip
that was downloaded, or of `archive/`. What lies below it, or in an archive below it, a student has written; it decides
nothing but which of that same student's files counts. **No name of a student's becomes a path**: an archive is read,
not unpacked, and what is written has a name that was made here.
"""

from .plugins import DownloadCollector, TolerantExtractor

__all__ = ["DownloadCollector", "TolerantExtractor"]
