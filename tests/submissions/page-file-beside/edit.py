from nbformat.v4 import new_markdown_cell

from tests.support.canaries import page_script


def edit(notebook):
    notebook.cells.append(new_markdown_cell("[my notes](notes.html) <iframe src=notes.html></iframe>"))
