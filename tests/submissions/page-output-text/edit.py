from nbformat.v4 import new_code_cell

from tests.support.canaries import page_script

CODE = r"""
from IPython.display import display
print(f"\x1b[31m<img src=x onerror={SING}>\x1b]8;;javascript:{SING}\x07a\x1b]8;;\x07")
display({"text/plain": f"<script>{SING}</script>"}, raw=True)
"""


def edit(notebook):
    notebook.cells.append(new_code_cell(f"SING = {page_script()!r}" + CODE))
