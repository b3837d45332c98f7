"""The first cell of a lesson's notebook (`student_install.first_cell`).

It is a file so that it is linted and type-checked. It runs in IPython 7.34 and later, and in scripts. It passes pip
every installed package with its version, so that pip keeps these packages or fails. It shows a failure in two
sentences, without a traceback: pip's message and the remedy.
"""


def set_up(origin: str, wanted: str) -> None:
    import importlib
    import os
    import re
    import shutil
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

    def unfinished() -> set[Path]:
        folders = {*sys.path, site.getusersitepackages()}
        infos = (info for folder in folders for info in Path(folder).glob("*.dist-info"))
        return {info for info in infos if not (info / "RECORD").is_file()}

    if installed("attention-course") != wanted and "course" not in sys.modules:
        if not installed("torch"):
            raise NotReady(
                "PyTorch is not installed here. Follow https://pytorch.org/get-started/locally for this "
                "machine (the CPU version is enough), then run this cell again."
            )
        asked = origin
        if "/" not in origin and origin.endswith(".whl"):
            folders = (Path.cwd(), Path.cwd().parent)
            beside = [folder / origin for folder in folders if (folder / origin).is_file()]
            renamed = [path for folder in folders for path in sorted(folder.glob(f"*{origin[:-4]}*"))]
            if not beside:
                raise NotReady(
                    f"This notebook needs the file {origin} in its own folder, "
                    + (  # a browser adds " (1)" to a second download, and pip refuses that name
                        f"and {renamed[0]} is there. Rename it to {origin}, and run this cell again."
                        if renamed
                        else f"but it is missing. Get it from where you got the notebook, put it into {Path.cwd()}, "
                        "and run this cell again."
                    )
                )
            asked = beside[0].as_uri()  # pip takes a `;` in a path for its own, and ASCII is read everywhere
            origin = str(beside[0]) if re.fullmatch(r"[\w./\\:-]+", str(beside[0]), re.ASCII) else asked
        names = ("torch", "numpy", "matplotlib", "ipython", "ipywidgets", "safetensors")
        kept = [f"{name}=={installed(name)}" for name in names if installed(name)]
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", asked, *kept]
        print("Installing the package of this course. This can take a minute.", flush=True)
        # without an answer from the network, pip's own limits keep a learner waiting for two minutes
        limits = {"PIP_DEFAULT_TIMEOUT": "10", "PIP_RETRIES": "1", **os.environ, "PYTHONUTF8": "1"}
        before = unfinished()
        try:
            done = subprocess.run(pip, capture_output=True, encoding="utf-8", errors="replace", env=limits)
        finally:  # next time, what pip did not finish (a full disk, an interrupt) would be taken for installed
            for left in unfinished() - before:
                shutil.rmtree(left, ignore_errors=True)
        if done.returncode:
            own = (
                "Make your own environment (`python3 -m venv attention`), install torch, jupyterlab and "
                f"{origin} into it, and choose it as the kernel."
            )
            python = f'"{sys.executable}"' if " " in sys.executable else sys.executable
            proxy = "http_proxy" if asked.startswith("http://") else "https_proxy"
            remedies = (
                (
                    r"\b407\b",
                    f"The proxy of your network asks for a name and password. In a cell above this one, run `%env "
                    f"{proxy}=http://NAME:PASSWORD@ADDRESS:PORT` with yours (ask the person who runs your network), "
                    "then run this cell again.",
                ),
                (
                    r"No module named pip\b",
                    f"An environment made by uv has no pip. Run `uv pip install --python {python} {origin}` in a "
                    f"terminal (without uv: `{python} -m ensurepip`), then run this cell again.",
                ),
                (r"externally-managed-environment", f"This Python belongs to the operating system. {own}"),
                (
                    r"different Python|Requires-Python",
                    "Choose a kernel with a Python version that the package supports, or install one.",
                ),
                (
                    r"Errno 28\b|Errno 122\b|No space left|quota",
                    "Free some disk space, then run this cell again.",
                ),
                (
                    r"Permission ?denied|Errno 13\b|Errno 30\b|Access is denied|Read-only file system|--user",
                    f"You have no permission to write there. {own}",
                ),
                (
                    r"conflict|ResolutionImpossible|depends on",
                    f"It needs other versions of packages than the installed ones. {own}",
                ),
                (
                    r"not a (valid|supported) wheel|wheel.*invalid|invalid wheel|BadZipFile|do not match the hashes",
                    f"{origin} is damaged: get it again from where you got the notebook, then run this cell again.",
                ),
                (
                    r"40[34] Client Error",
                    "The address is wrong, or you have no access to it: show your teacher this message.",
                ),
                (
                    r"certificate|SSL",
                    "A proxy, or a wrong clock on this computer, may be the cause: ask the person who runs your "
                    "network.",
                ),
                (
                    r"connection|timed? ?out|name resolution|getaddrinfo|proxy|network|50\d Server Error",
                    "Check that this computer is on the internet, then run this cell again.",
                ),
            )
            lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
            failed = any(line.startswith("Traceback") for line in lines)
            lines = lines[-1:] if failed else lines  # pip itself failed: the last line says why
            found = [(line, remedy) for cause, remedy in remedies for line in lines if re.search(cause, line, re.I)]
            errors = (
                [line for line in lines if line.startswith("ERROR")]
                or [line for line in lines if "error" in line.lower()]
                or lines[-1:]
                or [f"pip ended with {done.returncode}"]
            )
            said, remedy = found[0] if found else (errors[0], f"Show your teacher what `%pip install {origin}` prints.")
            said = errors[0] if said.startswith("WARNING") else said  # such as "Retrying (Retry(total=…"
            said = re.sub(r"^(ERROR|WARNING): ", "", said).rstrip(".")
            raise NotReady(f"The package of this course could not be installed: {said}. {remedy}")
        importlib.invalidate_caches()
        if not find_spec("course"):  # the folder for a user's packages may be new: this process does not know it
            site.addsitedir(site.getusersitepackages())
        if not find_spec("course"):
            raise NotReady("The package of this course is now installed. Restart the kernel and run this cell again.")

    import course

    at_work = getattr(course, "__version__", "")
    if not at_work:
        raise NotReady(
            f"`course` is {course.__file__} here, not the course's package. Rename that file or its "
            "folder, restart the kernel, and run this cell again."
        )
    if at_work != wanted:
        print(
            f"This notebook needs version {wanted} of the course's package, but version {at_work} is "
            "running. Restart the kernel and run this cell first. If you see this message again, "
            "download the notebook again."
        )
