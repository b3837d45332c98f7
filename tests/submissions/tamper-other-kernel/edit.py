def edit(notebook):
    notebook.metadata["kernelspec"] = {"name": "bash", "display_name": "Bash", "language": "bash"}
