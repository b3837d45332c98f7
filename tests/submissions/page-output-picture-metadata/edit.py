from nbformat.v4 import new_code_cell

from tests.support.canaries import page_script

CODE = r"""
from IPython.display import display
display({"image/png": "iVBORw0KGgo="}, metadata={"image/png": {"width": f"1 onerror={SING}", "alt": f'" onerror={SING}'}}, raw=True)
"""


def edit(notebook):
    notebook.cells.append(new_code_cell(f"SING = {page_script()!r}" + CODE))
