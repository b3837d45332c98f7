from grading.notebooks.cells import grade_id
from tests.support.canaries import page_script

CODE = '''
def softmax(x, dim=-1):
    raise ValueError(f"<img src=x onerror={SING}> $\\\\href{{javascript:{SING}}}{{x}}$")
'''


def edit(notebook):
    cell = next(cell for cell in notebook.cells if grade_id(cell) == "softmax")
    cell.source = f"SING = {page_script()!r}\n" + CODE
