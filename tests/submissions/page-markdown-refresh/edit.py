from nbformat.v4 import new_markdown_cell

from tests.support.canaries import page_script

SOURCE = '<base href="https://example.org/"><meta http-equiv="refresh" content="0;url=https://example.org/">'


def edit(notebook):
    notebook.cells.append(new_markdown_cell(SOURCE.replace("SING", page_script())))
