"""Learning management systems: what students handed in comes from one, feedback and points go back to it.

    submitted/<student>/<lesson>/    <lesson>.ipynb, and timestamp.txt if the download says when it was handed in
    whose.csv                        file name -> student, where names do not tell: asked once, then remembered

`platforms` finds whose a file is by the name that the platform gave it, `metadata` by what the platform writes beside
it; `file_names` finds which notebook it is. `roster` finds the student's id, with the answers in `identities`.
`archives` lists files of folders and archives within a budget, `downloads` what each person handed in. `selection`
chooses which file counts, `submitted_dir` writes it, `collection` is the whole of it, `outcome_table` shows the result.
`gradebook_csv`, `feedback_zip` and `canvas_api` return points and feedback.

Two rules hold whatever an archive contains. **Identity** comes from the outermost name alone, at the top of the
download, and from what the platform writes there. A student wrote everything below that, so it decides nothing but
which of that student's files counts. **No name of a student's becomes a path**: an archive is read, never unpacked, and
what is written has a name that was made here.
"""
