from nbformat.v4 import new_raw_cell

from tests.support.canaries import page_script


def edit(notebook):
    for mime in ("text/html", "", "text/markdown"):
        cell = new_raw_cell(f"<img src=x onerror={page_script()}>")
        cell.metadata["raw_mimetype"] = cell.metadata["format"] = mime
        notebook.cells.append(cell)
