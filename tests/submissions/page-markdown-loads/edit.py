from nbformat.v4 import new_markdown_cell

from tests.support.canaries import page_script

SOURCE = '![a](https://example.org/a.png)\n\n<img src=https://example.org/b.png><link rel=stylesheet href=https://example.org/c.css><p style="background:url(https://example.org/d.png)">a</p>'


def edit(notebook):
    notebook.cells.append(new_markdown_cell(SOURCE.replace("SING", page_script())))
