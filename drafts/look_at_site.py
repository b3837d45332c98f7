"""Pictures of pages of the site: python siteshot.py SITE OUT NAME ..."""
import sys
from pathlib import Path
from playwright.sync_api import sync_playwright
site, out = Path(sys.argv[1]), Path(sys.argv[2]); out.mkdir(parents=True, exist_ok=True)
with sync_playwright() as p:
    b = p.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
    for name in sys.argv[3:]:
        for theme in ("light", "dark"):
            page = b.new_context(viewport={"width": 1000, "height": 1800}, color_scheme=theme, device_scale_factor=0.6).new_page()
            page.goto((site / f"{name}.html").as_uri()); page.wait_for_timeout(800)
            h = page.evaluate("document.documentElement.scrollHeight"); n = 0
            for y in range(0, h, 1750):
                page.evaluate(f"window.scrollTo(0, {y})"); page.wait_for_timeout(150)
                page.screenshot(path=out / f"{name}-{theme}-{n:02}.png"); n += 1
            print(name, theme, n, flush=True)
