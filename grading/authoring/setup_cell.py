"""The first cell of a lesson's notebook (`student_install.first_cell`).

It is a file so that it is linted and type-checked, and it is short because VS Code shows it. It runs in IPython 7.34
and later, and in scripts. It passes pip every installed package that the course needs with its version, so that pip
keeps these packages or fails. A failure is shown without a traceback: pip's message and one remedy, which
docs/troubleshooting.md explains.
"""


def set_up(origin: str, wanted: str) -> None:
    import importlib.metadata, os, re, shutil, site, subprocess, sys
    from pathlib import Path

    class NotReady(Exception):
        def _render_traceback_(self) -> list[str]:
            return [str(self)]

    def failed(text: str) -> NotReady:
        own = f"Make your own environment (`python3 -m venv attention`) with torch, jupyterlab and {origin} in it"
        remedies = {  # the first whose key is found
            "^PyTorch is": "Follow https://pytorch.org/get-started/locally (the CPU version is enough)",
            "^it needs the file .* is there$": f"Rename that file to {origin}",
            "^it needs the file": f"Get it from where you got the notebook, and put it into {Path.cwd()}",
            "'course'": "Rename the file or folder of yours that is called `course`, if any, and restart the kernel",
            r"\b407\b": "In a cell above, run `%env https_proxy=http://NAME:PASSWORD@ADDRESS:PORT` with yours",
            "No module named pip": "In a cell above, run `import ensurepip; ensurepip.bootstrap()`",
            "Errno 28|Errno 122|No space|quota": "Free some disk space",
            "externally-managed|different Python|permission|denied|Errno 13|Errno 30|read-only|--user|conflict": own,
            "(valid|supported) wheel|wheel.* invalid|BadZipFile|the hashes": f"{origin} is damaged: get it again",
            "40[34] Client|certif|SSLErr": "The address, a proxy or this computer's clock is wrong: ask your teacher",
            "connection|timed? ?out|resolution|getaddrinfo|proxy|network|50. Server": "Check that you are online",
            "": f"Show your teacher what `%pip install {origin}` prints",
        }
        lines = text.splitlines()[-1 if "Traceback" in text else 0 :]  # pip itself failed: the last line says why
        said = next((line[7:] for line in lines if line.upper().startswith("ERROR: ")), lines[-1]).rstrip(".")
        remedy = next(remedies[cause] for cause in remedies if re.search(cause, "\n".join(lines), re.I))
        return NotReady(f"Not ready: {said}. {remedy}. Then run this cell again. More help: docs/troubleshooting.md")

    def installed(*names: str) -> list[str]:
        return [f"{name}=={i.version}" for name in names for i in [*importlib.metadata.distributions(name=name)][:1]]

    def unfinished() -> set[Path]:
        folders = map(Path, {*sys.path, site.getusersitepackages()})
        return {info for folder in folders for info in folder.glob("*.dist-info") if not (info / "RECORD").is_file()}

    if installed(ours := "attention-course") != [f"{ours}=={wanted}"] and "course" not in sys.modules:
        near = {path.name: path for at in (Path.cwd().parent, Path.cwd()) for path in at.glob(f"*{origin[:-4]}*")}
        origin = near[origin].as_uri() if origin in near else origin
        if "/" not in origin or not installed("torch"):
            absent = f"it needs the file {origin}" + (f", and {min(near.values())} is there" if near else "")
            raise failed(absent if installed("torch") else "PyTorch is not installed here")
        print("Installing the package of this course. This can take a minute.", flush=True)
        kept = installed("torch", "numpy", "matplotlib", "pillow", "ipython", "ipywidgets", "safetensors")
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", origin, *kept]
        limits = {"PIP_DEFAULT_TIMEOUT": "10", "PIP_RETRIES": "1", **os.environ, "PYTHONUTF8": "1"}  # else, two minutes
        before = unfinished()
        try:
            done = subprocess.run(pip, capture_output=True, encoding="utf-8", errors="replace", env=limits)
        finally:  # next time, what pip did not finish (a full disk, an interrupt) would be taken for installed
            for left in unfinished() - before:
                shutil.rmtree(left, ignore_errors=True)
        if done.returncode:
            raise failed(done.stderr.strip() or f"pip ended with {done.returncode}")
        importlib.invalidate_caches()
        site.addusersitepackages(set(sys.path))  # the folder for a user's packages may be new
    try:
        from course import __version__ as running
    except ImportError as error:
        raise failed(str(error)) from None
    if running != wanted:
        print(f"This notebook needs version {wanted} of the course, but {running} is running: restart the kernel.")
