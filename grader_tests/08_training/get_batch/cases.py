"""Building blocks of the test cases of `get_batch`."""

from grading.exercises.exercise import Script, generator, helper, student


def drawn(data, block_size, batch_size, calls, seed):
    """Many batches from one generator."""
    s = Script(data=data, generator=generator(seed))
    s.call(helper("repeat"), calls, student("get_batch"), s.data, block_size, batch_size, s.generator, name="result")
    text = f"{calls} calls of get_batch on {len(data)} tokens, block_size {block_size}, batch_size {batch_size}"
    return s.case().label(text)
