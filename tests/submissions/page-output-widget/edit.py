from nbformat.v4 import new_code_cell

from tests.support.canaries import page_script

CODE = r"""
from IPython.display import display
display({"application/vnd.jupyter.widget-view+json": {"model_id": "</script><script>" + SING + "</script>"}}, raw=True)
display({"application/vnd.jupyter.widget-state+json": SING, "text/plain": "x"}, raw=True)
"""


def edit(notebook):
    notebook.cells.append(new_code_cell(f"SING = {page_script()!r}" + CODE))
