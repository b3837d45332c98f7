"""The widget of attention: from a key to its picture.

    python -m benchmarks.alive [--keys 40]

In the kernel: the time to compute and write one page, with a learner's softmax and mask. In JupyterLab, in Chromium:
the time from a key's event to the changed page (`changed`) and to the frame that shows it (`shown`), one key at a time.
Without Chromium, only the kernel is measured.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path

import torch
from playwright.sync_api import expect, sync_playwright

from course.widgets.attention_maps import page
from course.widgets.attention_trace import MOST_WORDS, Tracer, read
from tests.browser.conftest import CHROMIUM, notebook_lab
from tests.browser.notebook import Notebook
from tests.browser.serving import patient

FUNCTIONS = """import torch
from course import alive
def softmax(x, dim=-1):
    return torch.softmax(x, dim)
def causal_mask(T):
    return torch.ones(T, T, dtype=torch.bool).triu(1)
alive.show(softmax=softmax, mask=causal_mask)"""
TYPED = " of the small town at night and the boat of the old town reached the river"
WATCH = """() => {
  let pressed = 0;
  window.times = [];
  document.activeElement.addEventListener('keydown', () => { pressed = performance.now(); }, true);
  new MutationObserver(() => {
    if (!pressed) return;
    const begun = pressed, changed = performance.now() - begun;
    pressed = 0;
    requestAnimationFrame(() => setTimeout(() => window.times.push([changed, performance.now() - begun]), 0));
  }).observe(document.querySelector('.attn-alive-live'), {childList: true, subtree: true});
}"""


def in_kernel(words: int, times: int) -> list[float]:
    """Milliseconds per page for a sentence of so many words."""
    tracer = Tracer(lambda x, dim=-1: torch.softmax(x, dim), mask=lambda T: torch.ones(T, T).triu(1).bool())
    text, found = " ".join((["the", "boat", "reached", "the", "river", "bank"] * 3)[:words]), []
    for _ in range(times):
        begun = time.perf_counter()
        page(tracer.trace(read(text)))
        found.append(1000 * (time.perf_counter() - begun))
    return found


def in_browser(keys: int) -> list[tuple[float, float]]:
    """Milliseconds from each key to the changed page, and to its frame."""
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        with notebook_lab(Path(place), FUNCTIONS) as address:
            opened = patient(browser, viewport={"width": 1280, "height": 1000}).new_page()
            notebook = Notebook.opened(opened, address)
            notebook.menu("Run", "Run All Cells")
            box = opened.get_by_role("textbox", name="Sentence")
            expect(box).to_be_visible()
            box.click()
            opened.keyboard.press("End")
            opened.evaluate(WATCH)
            for letter in (TYPED * (1 + keys // len(TYPED)))[:keys]:
                opened.keyboard.press("Space" if letter == " " else letter)
                opened.wait_for_timeout(400)
            found = [(float(changed), float(shown)) for changed, shown in opened.evaluate("window.times")]
        browser.close()
    return found


def main(arguments: list[str] | None = None) -> list[str]:
    """Measure and print; returns the lines of the summary."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keys", type=int, default=40, help="how many keys are typed in the browser")
    keys = parser.parse_args(arguments).keys
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    torch.set_num_threads(1)
    lines = [_line(f"kernel, {words} words", in_kernel(words, 200)) for words in (6, MOST_WORDS)]
    if CHROMIUM.exists():
        changed, shown = zip(*in_browser(keys), strict=True)
        lines += [_line("key to changed page", changed), _line("key to frame shown", shown)]
    print("\n".join(lines))
    return lines


def _line(name: str, milliseconds: list[float] | tuple[float, ...]) -> str:
    ordered = sorted(milliseconds)
    least, middle, high = ordered[0], statistics.median(ordered), ordered[int(0.9 * (len(ordered) - 1))]
    return f"{name:22} median {middle:5.0f} ms, fastest {least:4.0f} ms, nine of ten below {high:5.0f} ms"


if __name__ == "__main__":
    main()
