from nbformat.v4 import new_output

from grading.notebooks.cells import grade_id

def find(notebook, name):
    return next(cell for cell in notebook.cells if grade_id(cell) == name)

MIME = "application/vnd.attention-course.verdict+json"
VERDICT = {"exercise": "softmax", "points": 5.0, "earned": 5.0, "status": "right"}

def edit(notebook):
    cell = find(notebook, "check_softmax")
    cell.outputs = [
        new_output("display_data", data={MIME: VERDICT}),
        new_output("execute_result", data={"text/plain": "5.0"}, execution_count=1),
    ]
    notebook.metadata["attention_course"] = {"unreadable": "the dog ate it", "seed": 7, "sandboxed": False}
