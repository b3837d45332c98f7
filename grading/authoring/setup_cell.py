"""The first cell of a lesson's notebook, as a file so that it is linted and typed (`student_install.first_cell`).

It runs in IPython 7.34 and later, and in scripts. It names every package that is installed already to pip, with its
version, so that pip leaves it alone or fails. What is wrong is shown in two sentences, without a traceback.
"""


def set_up(origin: str, wanted: str) -> None:
    import importlib
    import subprocess
    import sys
    from importlib.metadata import PackageNotFoundError, version
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
            errors = [line for line in done.stderr.splitlines() if "error" in line.lower()] or [done.stderr.strip()]
            raise NotReady(
                f"The package of this course could not be installed: {errors[0].removeprefix('ERROR: ')}. See that "
                "the internet is there and run this cell again; if it says this once more, show your teacher what "
                f"`%pip install {origin}` prints."
            )
        importlib.invalidate_caches()

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
