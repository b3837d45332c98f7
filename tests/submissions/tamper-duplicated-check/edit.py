import copy

from grading.notebooks.cells import grade_id

def find(notebook, name):
    return next(cell for cell in notebook.cells if grade_id(cell) == name)

def edit(notebook):
    cell = find(notebook, "check_softmax")
    notebook.cells.insert(notebook.cells.index(cell) + 1, copy.deepcopy(cell))
