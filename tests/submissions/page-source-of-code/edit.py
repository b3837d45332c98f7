from nbformat.v4 import new_code_cell

from tests.support.canaries import page_script


def edit(notebook):
    page = f'<img src=x onerror={page_script()}></pre><script>{page_script()}</script>'
    notebook.cells.append(new_code_cell(f'# {page}\ntext = "{page}"'))
    notebook.cells.append(new_code_cell(f"%%html\n{page}"))
    notebook.cells.append(new_code_cell(f"%%markdown\n{page}"))
    notebook.cells.append(new_code_cell(f"%%javascript\n{page_script()}"))
    notebook.cells.append(new_code_cell(f"%%svg\n<svg onload='{page_script()}'></svg>"))
