from nbformat.v4 import new_markdown_cell

from tests.support.canaries import page_script

SOURCE = '<form action="javascript:SING"><button autofocus onfocus=SING>ok</button></form>'


def edit(notebook):
    notebook.cells.append(new_markdown_cell(SOURCE.replace("SING", page_script())))
