from grading.notebooks.cells import grade_id

def find(notebook, name):
    return next(cell for cell in notebook.cells if grade_id(cell) == name)

def edit(notebook):
    for name in ("entropy", "check_entropy"):
        cell = find(notebook, name)
        cell.cell_type = "raw"
        cell.pop("outputs", None)
        cell.pop("execution_count", None)
