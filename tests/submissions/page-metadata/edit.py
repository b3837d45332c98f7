from tests.support.canaries import page_script


def edit(notebook):
    page = f'"><img src=x onerror={page_script()}>'
    for number, cell in enumerate(notebook.cells):
        cell.metadata["tags"] = [page]
        cell.metadata["name"] = cell.metadata["alt"] = cell.metadata["magics_language"] = page
        cell["id"] = f"{number}{page}"
    notebook.cells[-1].metadata["nbgrader"] = {"grade_id": page, "solution": True, "points": page}
    notebook.metadata["language_info"] = {"name": page, "pygments_lexer": page, "version": page}
    notebook.metadata["kernelspec"] = {"name": page, "display_name": page, "language": page}
    notebook.metadata["title"] = page
    notebook.metadata["authors"] = [{"name": page}]
    notebook.metadata["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": {page: page}}}
