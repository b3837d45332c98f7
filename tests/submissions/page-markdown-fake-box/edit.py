from nbformat.v4 import new_markdown_cell

from tests.support.canaries import page_script

SOURCE = '# check_softmax\n\n<div style="position:fixed;inset:0;z-index:99;background:white" onmouseover=SING>Your session has ended</div>'


def edit(notebook):
    notebook.cells.append(new_markdown_cell(SOURCE.replace("SING", page_script())))
