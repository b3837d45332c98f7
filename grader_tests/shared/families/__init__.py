"""Mistakes that people make in many exercises, each described once.

`right.mistake(gradients.cut, {…}, loses="gradients")` adds one to an exercise.

An exercise uses a family's name and sentence, or its own: `gradients.cut("detaches_the_keys", what="the keys")` has
another name and other words, and `.feedback(…)` after it another sentence. The id is what class reports add up.
"""
