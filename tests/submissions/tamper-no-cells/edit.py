def edit(notebook):
    notebook.cells.clear()
