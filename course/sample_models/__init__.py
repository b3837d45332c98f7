"""Sample models: functions and models that exercises take as arguments.

`sees_the_future` (lesson 05) and `is_order_blind` (lesson 07) examine a function that maps (T, D) to (T, D). `mixture`,
`biased_attention` and `turned_attention` make such functions from tensors, so that their behaviour is data; `suspect`
returns the eight of lesson 05 by letter. All consist of differentiable operations that support backward and forward
mode, `torch.func` and `vmap`; none is random or keeps state. An output that does not depend on an input does not change
by a single bit when that input does, except by the `detour` of a `mixture`.

`Projections`, `torch_attention` and `assembled` (lesson 06) are modules for exercises that copy or count weights.
`Bigram`, `Windowed` and `Slope` (lesson 08) are language models: ids (B, T) to logits (B, T, N), with a `block_size`.
Their results show how they were called, so that a checker needs no record of it. `Reader`, `Writer` and `story`
(lesson 12) are an encoder, a decoder and the step function of a search; `PositionalReader` and `PositionalWriter` are
the first two without names for their arguments.

`Cached` (lesson 09) is a language model that writes into a cache which it is given.

`GPT` (lesson 11) is `course.models.gpt.GPT`; `layer_norm` and `Scaled` are modules for a model's end. `PlantedCircuits`
(lesson 11) measures a model without some of its heads, whose jobs are data.

`grammar` and `verifier` (lesson 14) are functions whose decisions are data: which character may follow, and which
drafted token is accepted. `State`, a state of a grammar, and `strict`, which makes a plain function of a model, offer
nothing but what the contract promises.
`LinkedIds` (lesson 14) is a text that counts how often its pairs are looked at.

None of them answers an exercise.
"""

from __future__ import annotations

from ..models.gpt import GPT
from .attention import SUSPECTS, Attention, biased_attention, mixture, suspect, turned_attention
from .choices import LinkedIds, State, grammar, strict, verifier
from .circuits import PlantedCircuits
from .models import Bigram, Cached, Enough, Slope, Windowed
from .modules import Projections, Scaled, assembled, layer_norm, torch_attention
from .sequences import Memory, PositionalReader, PositionalWriter, Reader, Writer, story

__all__ = [
    "GPT",
    "SUSPECTS",
    "Attention",
    "Bigram",
    "Cached",
    "Enough",
    "LinkedIds",
    "Memory",
    "PlantedCircuits",
    "PositionalReader",
    "PositionalWriter",
    "Projections",
    "Reader",
    "Scaled",
    "Slope",
    "State",
    "Windowed",
    "Writer",
    "assembled",
    "biased_attention",
    "grammar",
    "layer_norm",
    "mixture",
    "story",
    "strict",
    "suspect",
    "torch_attention",
    "turned_attention",
    "verifier",
]
