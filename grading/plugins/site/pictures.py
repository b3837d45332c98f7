"""Pictures that are in a page's HTML, moved into files beside it, so that the page opens at once.

A drawing that is large moves into a script, which puts it back: there it has the colours of the page's theme, as no
picture file has. The frames of sliders move the same way. Without JavaScript the page shows the drawing as a file.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path

FOLDER = "_images"  # where Sphinx keeps pictures, too
LARGE, MANY = 2_000, 20_000  # characters that are worth a file, and a script
DATA = re.compile(rf"data:image/(png|jpeg|gif|webp|svg\+xml);base64,([A-Za-z0-9+/=]{{{LARGE},}})")
DRAWING = re.compile(r'(?P<style><style>[^<]*</style>)?(?P<drawn><svg role="img"(?P<attributes>[^>]*)>.*?</svg>)', re.S)
NO_SCRIPT = re.compile(r"<noscript>.*?</noscript>", re.S)
FRAMES = re.compile(r'<script type="application/json">.*?</script>', re.S)


def move_pictures(page: str, site: Path) -> str:
    """Write the pictures of a page in the site's root to files; the page with their addresses."""
    (site / FOLDER).mkdir(exist_ok=True)
    page = NO_SCRIPT.sub(lambda found: DRAWING.sub(lambda drawing: _as_picture(drawing, site), found[0]), page)
    page = DRAWING.sub(lambda drawing: _as_script_or_picture(drawing, site), page)
    page = DATA.sub(lambda found: _address(base64.b64decode(found[2]), found[1].removesuffix("+xml"), site), page)
    return FRAMES.sub(lambda found: _as_script(found[0], site) if len(found[0]) >= MANY else found[0], page)


def _as_script_or_picture(drawing: re.Match[str], site: Path) -> str:
    if len(drawing["drawn"]) < MANY:
        return drawing[0]
    script = _as_script(drawing["drawn"], site)
    return f"{drawing['style'] or ''}{script}<noscript>{_as_picture(drawing, site)}</noscript>"


def _as_script(html: str, site: Path) -> str:
    """An element that turns into this HTML, which is in a file."""
    content = f"document.currentScript.outerHTML = {json.dumps(html)};"
    return f'<script src="{_address(content.encode(), "js", site)}"></script>'


def _as_picture(drawing: re.Match[str], site: Path) -> str:
    """A drawing as a file. The element around the picture keeps it from the rules for pictures in a figure."""
    attributes = re.sub(r'role="img"|aria-label="[^"]*"', "", drawing["attributes"])
    style = drawing["style"] or ""
    inner = drawing["drawn"].partition(">")[2]
    classes = "".join(f' class="{name}"' for name in re.findall(r"<style>\.([\w-]+)", style))
    file = f'<svg xmlns="http://www.w3.org/2000/svg"{classes}{attributes}>{style}{inner}'
    words = "".join(re.findall(r'aria-label="([^"]*)"', drawing["attributes"]))
    look = "".join(re.findall(r' style="([^"]*)"', drawing["attributes"]))
    return f'<span><img alt="{words}" src="{_address(file.encode(), "svg", site)}" style="{look}"></span>'


def _address(content: bytes, kind: str, site: Path) -> str:
    """Write a file; its address from the site's root."""
    name = f"{hashlib.sha256(content).hexdigest()[:20]}.{kind}"
    (site / FOLDER / name).write_bytes(content)
    return f"{FOLDER}/{name}"
