from nbformat.v4 import new_code_cell

from tests.support.canaries import page_script

CODE = r"""
from IPython.display import display
import IPython
kernel = IPython.get_ipython().kernel
send = lambda kind, content: kernel.session.send(kernel.iopub_socket, kind, content, parent=kernel.get_parent("shell"))
send("execute_input", {"code": "", "execution_count": True})
send("execute_result", {"data": {"text/plain": SING}, "metadata": {}, "execution_count": f"<img src=x onerror={SING}>"})
send("stream", {"name": f"x' onmouseover='{SING}", "text": SING})
"""


def edit(notebook):
    notebook.cells.append(new_code_cell(f"SING = {page_script()!r}" + CODE))
