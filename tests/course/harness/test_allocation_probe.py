"""What a call makes on its way: the largest tensor, and the multiplications of its matrix products."""

from __future__ import annotations

import pytest
import torch

from course.harness.allocation_probe import AllocationProbe


def test_the_largest_tensor_is_noted_though_it_is_gone_again():
    with AllocationProbe() as making:
        torch.softmax(torch.randn(6, 4) @ torch.randn(4, 30), dim=-1).sum()
    assert (making.shape, making.most) == ((6, 30), 180)


def test_a_view_counts_as_its_base_and_a_mask_not_at_all():
    with AllocationProbe() as making:
        torch.ones(8, 1).expand(8, 1000)
        torch.ones(50, 50, dtype=torch.bool).triu(1)
    assert making.most == 8


@pytest.mark.parametrize(
    "product",
    [
        lambda a, b: a @ b,
        lambda a, b: torch.einsum("btk,bks->bts", a, b),
        lambda a, b: torch.baddbmm(torch.zeros(1), a, b),
    ],
    ids=["matmul", "einsum", "baddbmm"],
)
def test_multiplications_are_counted_in_any_spelling(product):
    a, b = torch.randn(2, 3, 5), torch.randn(2, 5, 7)
    with AllocationProbe() as making:
        product(a, b)
    assert making.products == 2 * 3 * 5 * 7
