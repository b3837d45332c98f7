"""Figures of lesson 13 say in words what they show."""

from course.figures import cheaper


def hatched(figure):
    return [patch for patch in figure.axes[0].patches if patch.get_hatch()]


def test_pages_that_two_texts_have_are_hatched():
    figure = cheaper.pages({"A": ([0, 2], 3), "B": ([0, 1], 4)}, n_pages=4, page_size=2)
    assert len(hatched(figure)) == 2  # the two rows of page 0
    said = figure.get_label()
    assert "page 0: A, B, positions 0 to 1" in said
    assert "page 1: B, positions 2 to 3" in said
    assert "page 2: A, positions 2 to 2" in said
    assert "page 3: free" in said


def test_a_pool_without_texts_is_free():
    figure = cheaper.pages({}, n_pages=2, page_size=3)
    assert not hatched(figure)
    assert "page 1: free" in figure.get_label()


def test_the_absorbed_form_makes_no_keys():
    texts = [text.get_text() for text in cheaper.latent_layer(absorbed=True).axes[0].texts]
    assert "keys of\nall heads" not in texts
    assert "keys of\nall heads" in [text.get_text() for text in cheaper.latent_layer().axes[0].texts]
