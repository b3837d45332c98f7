from nbformat.v4 import new_markdown_cell

from tests.support.canaries import page_script

SOURCE = '![" onerror=SING x="](x)\n\n![a](x "\\" onerror=SING x=\\"")'


def edit(notebook):
    notebook.cells.append(new_markdown_cell(SOURCE.replace("SING", page_script())))
