from nbformat.v4 import new_code_cell

from tests.support.canaries import page_script

CODE = r"""
from IPython.display import display
display({"application/vnd.attention-course.verdict+json": {"earned": 7}, "text/html": f"<div role=group><script>{SING}</script></div>"}, raw=True)
"""


def edit(notebook):
    notebook.cells.append(new_code_cell(f"SING = {page_script()!r}" + CODE))
