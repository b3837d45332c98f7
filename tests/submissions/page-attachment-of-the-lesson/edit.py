from tests.support.canaries import page_script


def edit(notebook):
    first = next(cell for cell in notebook.cells if cell.cell_type == "markdown")
    first["attachments"] = {"a.png": {f'image/png" onerror="{page_script()}': f'" onerror="{page_script()}'}}
