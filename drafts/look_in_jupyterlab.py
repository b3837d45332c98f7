"""Pictures of lessons in JupyterLab: python lablook.py OUT LESSON ..."""
import sys, tempfile
from pathlib import Path
from tests.browser.screenshots import chromium
from tests.browser.conftest import student_lab
from tests.browser.notebook import Notebook
from tests.browser.serving import patient
out = Path(sys.argv[1]); out.mkdir(parents=True, exist_ok=True)
with tempfile.TemporaryDirectory() as d, chromium() as browser:
    home = Path(d) / "home"; home.mkdir()
    with student_lab(home) as address:
        for lesson in sys.argv[2:]:
            ctx = patient(browser, viewport={"width": 1280, "height": 1600}, device_scale_factor=0.6)
            page = ctx.new_page()
            nb = Notebook.opened(page, address.format(path=f"{lesson}.ipynb") + "&reset")
            nb.theme("Light"); page.keyboard.press("Control+b")
            nb.run_all()
            for theme in ("Light", "Dark"):
                nb.theme(theme)
                panel = page.locator(".jp-WindowedPanel-outer").first
                panel.evaluate("p => p.scrollTop = 0"); page.wait_for_timeout(700)
                n = 0
                while True:
                    page.screenshot(path=out / f"{lesson}-{theme}-{n:02}.png"); n += 1
                    at = panel.evaluate("p => { const a = p.scrollTop; p.scrollTop += p.clientHeight - 60; return [a, p.scrollTop] }")
                    page.wait_for_timeout(400)
                    if at[0] == at[1] or n > 40: break
                print(lesson, theme, n, flush=True)
            ctx.close()
