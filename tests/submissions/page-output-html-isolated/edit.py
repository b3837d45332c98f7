from nbformat.v4 import new_code_cell

from tests.support.canaries import page_script

CODE = r"""
from IPython.display import display
display({"text/html": f"<script>{SING}</script>"}, metadata={"text/html": {"isolated": True}}, raw=True)
"""


def edit(notebook):
    notebook.cells.append(new_code_cell(f"SING = {page_script()!r}" + CODE))
