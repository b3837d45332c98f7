"""Mistakes that people make in many exercises, each described once.

`right.mistake(gradients.cut, {…}, loses="gradients")` adds one to an exercise.

An exercise may change the name and the words, as in `gradients.cut("detaches_the_keys", what="the keys")`, or the
sentence, with `.feedback(…)` after it. Class reports add up mistakes by the family's id.
"""
