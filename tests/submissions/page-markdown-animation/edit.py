from nbformat.v4 import new_markdown_cell

from tests.support.canaries import page_script

SOURCE = "<style>@keyframes x{}</style><p style='animation:x 1s' onanimationstart=SING>a</p>"


def edit(notebook):
    notebook.cells.append(new_markdown_cell(SOURCE.replace("SING", page_script())))
