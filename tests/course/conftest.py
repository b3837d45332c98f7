"""What one test draws is closed before the next: pyplot keeps figures, and warns from the twentieth on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from matplotlib import pyplot as plt


@pytest.fixture(autouse=True)
def no_figure_left_open() -> Iterator[None]:
    yield
    plt.close("all")
