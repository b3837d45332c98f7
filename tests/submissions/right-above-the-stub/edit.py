import json
from pathlib import Path

RELEASE = Path(__file__).parents[3] / "release" / "02_softmax" / "02_softmax.ipynb"


def edit(notebook):
    stubs = {cell["id"]: "".join(cell["source"]) for cell in json.loads(RELEASE.read_text(encoding="utf-8"))["cells"]}
    cell = next(cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == "softmax")
    cell.source = stubs[cell.id]
