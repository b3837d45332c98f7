from nbformat.v4 import new_markdown_cell

from tests.support.canaries import page_script

SOURCE = '[the solution](javascript:SING)'


def edit(notebook):
    notebook.cells.append(new_markdown_cell(SOURCE.replace("SING", page_script())))
