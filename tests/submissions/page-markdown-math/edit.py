from nbformat.v4 import new_markdown_cell

from tests.support.canaries import page_script

SOURCE = '$a<img src=x onerror=SING>$\n\n$$<script>SING</script>$$\n\n\\begin{x}<img src=x onerror=SING>\\end{x}'


def edit(notebook):
    notebook.cells.append(new_markdown_cell(SOURCE.replace("SING", page_script())))
