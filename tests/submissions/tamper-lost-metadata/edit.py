def edit(notebook):
    for cell in notebook.cells:
        cell.metadata.clear()
        cell.pop("id", None)
    notebook.metadata.clear()
    notebook.nbformat_minor = 4
