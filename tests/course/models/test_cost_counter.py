"""What a call costs, on calls that can be counted by hand."""

import torch
from torch import nn

from course.models import cost_counter


def cost_of(function, *args):
    return cost_counter.measure_cost(function, *args)[1]


def test_a_matrix_product_reads_both_factors_and_writes_the_result():
    left, right = torch.ones(2, 3), torch.ones(3, 5)
    assert cost_of(torch.matmul, left, right) == cost_counter.Cost(
        products=30, read=4 * (6 + 15), written=4 * 10, peak=4 * 10
    )


def test_a_view_is_free_and_an_expanded_dimension_counts_once():
    x = torch.ones(4, 6)
    assert cost_of(lambda: x.mT[:, 1:].expand(3, -1, -1)) == cost_counter.Cost()
    assert cost_of(lambda: x[:1].expand(50, -1) + 0).read == 4 * 6


def test_writing_in_place_makes_no_memory():
    kept, row = torch.zeros(8, 3), torch.ones(1, 3)

    def write():
        kept[4:5] = row

    assert cost_of(write) == cost_counter.Cost(read=4 * 3, written=4 * 3)


def test_memory_that_is_free_again_does_not_count_twice():
    def one_after_another():
        x = torch.ones(100) + 1
        x = x * 2
        x = x * 3

    assert cost_of(one_after_another).peak == 800


def test_an_embedding_reads_only_its_rows():
    table = nn.Embedding(1000, 8)
    assert cost_of(table, torch.tensor([3, 5])).read == 2 * 8 * 4 + 2 * 8


def test_the_result_is_the_functions_own():
    result, _ = cost_counter.measure_cost(lambda: torch.arange(3).sum())
    assert int(result) == 3
