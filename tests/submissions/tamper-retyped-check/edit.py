from grading.notebooks.cells import grade_id

def find(notebook, name):
    return next(cell for cell in notebook.cells if grade_id(cell) == name)

def edit(notebook):
    cell = find(notebook, "check_softmax")
    cell.cell_type = "markdown"
    cell.pop("outputs", None)
    cell.pop("execution_count", None)
