from nbformat.v4 import new_markdown_cell

from tests.support.canaries import page_script

SOURCE = '<noscript><p title="</noscript><img src=x onerror=SING>"></noscript><math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=SING&gt;">'


def edit(notebook):
    notebook.cells.append(new_markdown_cell(SOURCE.replace("SING", page_script())))
