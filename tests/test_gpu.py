"""`make test-gpu` on a machine without a GPU: it says so, and its script runs on the CPU."""

from __future__ import annotations

import pytest
import torch

from .support import gpu


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_it_says_so_and_fails(capsys):
    assert gpu.main([]) == 2
    assert capsys.readouterr().err == (
        "no GPU: torch finds no CUDA device. Run this on a machine with an NVIDIA GPU, or try it with --device cpu.\n"
    )


@pytest.mark.full("grades a lesson twice, as other tests do")
def test_on_the_cpu_every_solution_is_right_and_every_mistake_is_named(capsys):
    assert gpu.main(["--device", "cpu", "02_softmax"]) == 0
    assert "  softmax                       7 of 7      subtracts_no_maximum\n" in capsys.readouterr().out
