from nbformat.v4 import new_code_cell

from tests.support.canaries import page_script

CODE = r"""
from IPython.display import display
Pwned = type(f"<img src=x onerror={SING}>", (Exception,), {})
raise Pwned(f"<script>{SING}</script>")
"""


def edit(notebook):
    notebook.cells.append(new_code_cell(f"SING = {page_script()!r}" + CODE))
