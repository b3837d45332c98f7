from nbformat.v4 import new_code_cell

from tests.support.canaries import page_script

CODE = r"""
from IPython.display import display
display({"image/svg+xml": f"<svg xmlns='http://www.w3.org/2000/svg' onload='{SING}'><script>{SING}</script></svg>"}, raw=True)
"""


def edit(notebook):
    notebook.cells.append(new_code_cell(f"SING = {page_script()!r}" + CODE))
