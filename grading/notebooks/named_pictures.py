"""Pictures in a student's text: one form of reference, and names by content.

Front ends attach a picture to a cell, write its bytes into the text, or refer to it by HTML. Each becomes an attachment
whose name has a hash of its bytes. So whatever compares texts compares pictures too, and a name means the same picture
in the whole notebook. Does not cover: how much of a notebook's pictures is kept (`sanitize`).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from nbformat.notebooknode import NotebookNode, from_dict

from .sanitize import PICTURES, is_picture

MOST = 50  # pictures of a cell
NOT_SHOWN = "a picture that cannot be shown here. It is in the notebook that was handed in."
LONG = 1_000  # characters of a picture within the text; shorter ones stay there
DATA = re.compile(rf"data:image/(png|jpe?g|gif|webp);base64,([A-Za-z0-9+/=]{{{LONG},}})")
HTML = re.compile(r"<img\b[^<>]{0,2000}>", re.IGNORECASE)
SOURCE = re.compile(r"\bsrc\s{0,9}=\s{0,9}[\"']?(attachment:[\w.-]{1,200})", re.IGNORECASE)
ALT = re.compile(r"\balt\s{0,9}=\s{0,9}[\"']([^\"'<>\[\]]{0,200})", re.IGNORECASE)
IN_URI = ";,/?:@&=+$-_.!~*'()#"  # what JupyterLab leaves in an address

Attachments = dict[str, dict[str, str]]


def gather_pictures(cell: NotebookNode) -> None:
    """Make every picture of a cell an attachment named by its bytes, in place; say where one cannot be shown."""
    if not cell.get("attachments") and "data:image/" not in cell.source:
        return
    source, kept, left_out = cell.source, Attachments(), list[str]()
    attached = sorted(cell.pop("attachments", {}).items(), key=lambda pair: -len(pair[0]))  # no name begins a later one
    for name, bundle in attached[:MOST]:
        new = _new_name(bundle)
        if any(is_picture(mime, data) for mime, data in bundle.items()):
            kept[new] = {**bundle}
        else:
            left_out.append(new)
        for form in {name, quote(name), quote(name, safe=IN_URI)}:
            source = source.replace(f"attachment:{form}", f"attachment:{new}")

    def attach(found: re.Match[str]) -> str:
        mime = f"image/{found[1].replace('jpg', 'jpeg')}"
        new = _new_name({mime: found[2]})
        if len(kept) >= MOST or not is_picture(mime, found[2]):
            return found[0]
        kept[new] = {mime: found[2]}
        return f"attachment:{new}"

    source = HTML.sub(_as_markdown, DATA.sub(attach, source))
    if not any(f"attachment:{name}" in source for name in [*kept, *left_out]):
        source = "\n\n".join(filter(None, [source.strip("\n"), references([*kept, *left_out])]))
    for name in left_out:
        source = re.sub(
            rf"!\[([^\[\]\n]{{0,200}})\]\([^()\n]{{0,9}}attachment:{name}[^()\n]{{0,200}}\)",
            rf"*(\1: {NOT_SHOWN})*",
            source,
        )
    if len(attached) > MOST:
        source = f"{source}\n\n*({len(attached) - MOST} more: {NOT_SHOWN})*"
    cell.source = source
    if kept:
        cell.attachments = from_dict(kept)


def references(names: Iterable[str]) -> str:
    return "\n\n".join(f"![picture](attachment:{name})" for name in names)


def all_pictures(cells: Iterable[Mapping[str, Any]]) -> Attachments:
    """The attachments of a repaired notebook, by names that mean the same in all of its cells."""
    return {name: bundle for cell in cells for name, bundle in cell.get("attachments", {}).items()}


def _new_name(bundle: Mapping[str, str]) -> str:
    mime, data = next(((mime, data) for mime, data in sorted(bundle.items()) if mime in PICTURES), ("", str(bundle)))
    digest = hashlib.sha256("".join(data.split()).encode(errors="replace")).hexdigest()[:16]
    return f"picture-{digest}.{mime.partition('/')[2] or 'file'}"


def _as_markdown(tag: re.Match[str]) -> str:
    source, alt = SOURCE.search(tag[0]), ALT.search(tag[0])
    return f"![{alt[1] if alt else 'picture'}]({source[1]})" if source else tag[0]
