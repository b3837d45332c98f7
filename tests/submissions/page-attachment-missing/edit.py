from nbformat.v4 import new_markdown_cell


def edit(notebook):
    notebook.cells.append(new_markdown_cell("![a](attachment:nowhere.png)"))
