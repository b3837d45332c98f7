"""The first cell of a lesson's notebook (`student_install.first_cell`).

It is a file so that it is linted and type-checked. It runs in IPython 7.34 and later, and in scripts. It passes pip
every installed package with its version, so that pip keeps these packages or fails. It shows a failure in two
sentences, without a traceback: pip's message and the remedy.
"""


def set_up(origin: str, wanted: str) -> None:
    import importlib
    import re
    import site
    import subprocess
    import sys
    from importlib.metadata import PackageNotFoundError, version
    from importlib.util import find_spec
    from pathlib import Path

    class NotReady(Exception):
        def _render_traceback_(self) -> list[str]:
            return [str(self)]

    def installed(name: str) -> str:
        try:
            return version(name)
        except PackageNotFoundError:
            return ""

    if installed("attention-course") != wanted and "course" not in sys.modules:
        if not installed("torch"):
            raise NotReady(
                "PyTorch is not installed here. Install it as https://pytorch.org/get-started/locally says for this "
                "machine (CPU is enough), then run this cell again."
            )
        if "/" not in origin and origin.endswith(".whl"):
            beside = [folder / origin for folder in (Path.cwd(), Path.cwd().parent) if (folder / origin).is_file()]
            if not beside:
                raise NotReady(
                    f"This notebook needs the file {origin} beside it, which is not there. Get it from where you got "
                    f"the notebook, put it into {Path.cwd()}, and run this cell again."
                )
            origin = str(beside[0])
        names = ("torch", "numpy", "matplotlib", "ipython", "ipywidgets", "safetensors")
        kept = [f"{name}=={installed(name)}" for name in names if installed(name)]
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", origin, *kept]
        done = subprocess.run(pip, capture_output=True, text=True)
        if done.returncode:
            own = (
                f"Make an environment of your own (`python3 -m venv attention`), install torch, jupyterlab and {origin}"
                " into it, and choose it as the kernel."
            )
            remedies = (
                (
                    r"No module named pip\b",
                    f"An environment that uv made has no pip: run `uv pip install --python {sys.executable} {origin}` "
                    f"in a terminal (without uv: `{sys.executable} -m ensurepip`), then this cell again.",
                ),
                (r"externally-managed-environment", f"This Python belongs to the system. {own}"),
                (r"different Python|Requires-Python", "Choose a kernel with a Python that fits, or install one."),
                (
                    r"Errno 28\b|Errno 122\b|No space left|quota",
                    "Delete what you do not need, then run this cell again.",
                ),
                (
                    r"Permission ?denied|Errno 13\b|Errno 30\b|Access is denied|Read-only file system|--user",
                    f"You may not write there. {own}",
                ),
                (
                    r"conflict|ResolutionImpossible|depends on",
                    f"It needs other versions than are installed here. {own}",
                ),
                (
                    r"not a (valid|supported) wheel|wheel.*invalid|invalid wheel|BadZipFile|do not match the hashes",
                    f"{origin} is damaged: get it again from where you got the notebook, then run this cell again.",
                ),
                (r"40[34] Client Error", "The address is wrong or closed to you: show your teacher this message."),
                (
                    r"certificate|SSL",
                    "A proxy or the clock of this computer may be in the way: ask whoever runs its network.",
                ),
                (
                    r"connection|timed? ?out|name resolution|getaddrinfo|proxy|network|50\d Server Error",
                    "Check that this computer is on the internet, then run this cell again.",
                ),
            )
            lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
            found = [(line, remedy) for cause, remedy in remedies for line in lines if re.search(cause, line, re.I)]
            errors = (
                [line for line in lines if "error" in line.lower()]
                or lines[-1:]
                or [f"pip ended with {done.returncode}"]
            )
            said, remedy = found[0] if found else (errors[0], f"Show your teacher what `%pip install {origin}` prints.")
            said = re.sub(r"^(ERROR|WARNING): ", "", said).rstrip(".")
            raise NotReady(f"The package of this course could not be installed: {said}. {remedy}")
        importlib.invalidate_caches()
        if not find_spec("course"):  # the folder for a user's packages may be new: this process does not know it
            site.addsitedir(site.getusersitepackages())
        if not find_spec("course"):
            raise NotReady("The package of this course is installed now. Restart the kernel and run this cell again.")

    import course

    at_work = getattr(course, "__version__", "")
    if not at_work:
        raise NotReady(
            f"`course` is not the course's package here, but {course.__file__}. Give that another name, restart the "
            "kernel, and run this cell again."
        )
    if at_work != wanted:
        print(
            f"This notebook belongs to version {wanted} of the course's package, and {at_work} is at work. Restart "
            "the kernel and run this cell first; if it says this again, get the notebook anew."
        )
