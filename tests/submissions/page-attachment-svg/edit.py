import base64

from nbformat.v4 import new_markdown_cell

from tests.support.canaries import page_script


def edit(notebook):
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" onload="{page_script()}"><script>{page_script()}</script></svg>'
    cell = new_markdown_cell("![a](attachment:a.svg)")
    cell["attachments"] = {"a.svg": {"image/svg+xml": base64.b64encode(svg.encode()).decode()}}
    notebook.cells.append(cell)
