import json
from pathlib import Path

from nbformat.v4 import new_code_cell

RELEASE = Path(__file__).parents[3] / "release" / "02_softmax" / "02_softmax.ipynb"


def edit(notebook):
    stubs = {cell["id"]: "".join(cell["source"]) for cell in json.loads(RELEASE.read_text(encoding="utf-8"))["cells"]}
    names = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in notebook.cells]
    place = names.index("softmax")
    notebook.cells.insert(place + 1, new_code_cell(stubs[notebook.cells[place].id]))
