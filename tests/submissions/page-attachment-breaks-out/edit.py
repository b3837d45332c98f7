from nbformat.v4 import new_markdown_cell

from tests.support.canaries import page_script


def edit(notebook):
    cell = new_markdown_cell("![a](attachment:a.png)\n\n![b](attachment:b.png)")
    cell["attachments"] = {
        "a.png": {"image/png": f'" onerror="{page_script()}'},
        "b.png": {f'image/png" onerror="{page_script()}" x="': "AAAA"},
    }
    notebook.cells.append(cell)
