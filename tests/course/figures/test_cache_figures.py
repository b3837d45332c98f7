"""Figures of lesson 09 say in words what they show."""

from course.figures import cache


def words(figure):
    return figure.get_label()


def test_appending_writes_all_rows_and_memory_made_once_one_row():
    said = words(cache.append_or_write(5))
    assert "15 in total" in said
    assert "5 in total" in said


def test_a_buffer_shows_what_changed():
    figure = cache.slots({"after 0": [0, -1], "after 1": [0, 1], "after 2": [2, 1]})
    assert words(figure).endswith("after 0: 0, empty; after 1: 0, 1; after 2: 2, 1.")
    solid = [patch for patch in figure.axes[0].patches if patch.get_facecolor()[:3] != (239 / 255,) * 3]
    assert len(solid) == 3


def test_the_levels_of_memory_have_their_sizes_and_speeds():
    said = words(cache.hierarchy())
    assert "20 MB, 19 TB per second" in said
    assert "12.8 GB per second" in said


def test_a_roofline_is_level_right_of_its_corner():
    said = words(cache.roofline({"one": 1, "many": 1000}, peak=100.0, bandwidth=2.0))
    assert "up to 50 operations per byte" in said
    assert "one, 1 operations per byte, 2 % of the peak" in said
    assert "many, 1000 operations per byte, 100 % of the peak" in said


def test_the_parts_of_a_step_add_up_to_its_length():
    figure = cache.time_bars({"short": [1.0, 2.0], "long": [1.0, 4.5]}, ("a", "b"))
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert texts == [" 3.0 ms", " 5.5 ms"]
