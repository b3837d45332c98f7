"""Collects downloads of learning platforms: `grading collect ARCHIVE…`, or `nbgrader zip_collect <lesson>`.

    downloaded/<lesson>/archive/     for zip_collect, what was downloaded: zips, folders, single files
    downloaded/<lesson>/extracted/   what has changed, one notebook of each student, under names of our own
    submitted/<student>/<lesson>/    <lesson>.ipynb, and timestamp.txt where it is told when it was handed in
    whose.csv                        whose what is, where names do not tell: asked once, and remembered

`platforms` says whose a file is, by the name that the platform gave, and `exports` by what the platform writes beside
it; `names` which notebook it is, by the name that the student gave. `people` finds the student's id, with the answers
in `whose`. `archives` lists files of folders and archives within a budget, `downloads` what each person handed in.
`submission` holds that and chooses what counts, `submitted` writes it, `collecting` is the whole of it, `table` shows
what became of each. `plugins` are the two classes that nbgrader calls.

Two rules hold whatever an archive contains. **Identity** comes from the outermost name alone, at the top of what was
downloaded, and from what the platform writes there. What lies below it, or in an archive below it, a student has
written; it decides nothing but which of that same student's files counts. **No name of a student's becomes a path**:
an archive is read, not unpacked, and what is written has a name that was made here.
"""

from .plugins import DownloadCollector, TolerantExtractor

__all__ = ["DownloadCollector", "TolerantExtractor"]
