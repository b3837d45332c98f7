# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Lesson 12: Two sequences
#
# Until now, the tokens of a text attended to tokens of the same text. Attention was invented for something else: in 2014, a
# network that translated from English to French looked back at the English while it wrote the French. **How does one sequence
# attend to another, how do you train a model that reads one and writes the other, and must the sequence that it reads be
# text?**
#
# **You will build** cross-attention, a model that consists of an encoder and a decoder and learns to translate between two
# languages with different word orders, and beam search, which finds translations that the simplest search misses. At the end,
# an image replaces the sentence.
#
# **You need** masks (lesson 5), heads (lesson 6) and training (lesson 8). You need nothing from your earlier notebooks.
#
# **Time:** about 90 minutes, plus 25 for the parts marked *extra*

# %%
import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from course import begin, check, figures, hint, predict, progress, sliders, solution
from torch import nn

begin("12_two_sequences")

# %% tags=["demo"]
# @title The part of attention that this lesson changes
figures.show(figures.diagram.two_sequences())

# %% [markdown]
# The **source** is the sequence that the model reads, the **target** the one that it writes. In shapes, `B` is the batch, `S`
# the number of source positions, `T` the number of target positions, `H` the number of heads, `D` the model's width, `K` a
# head's width and `N` the size of the target's vocabulary.

# %% [markdown]
# ## Quiz: what came before
#
# **1.** A mask is True in a cell. May the query see that key?
#
# **2.** Queries are `(2, 4, 5, 8)`, keys `(2, 4, 7, 8)`. What is the shape of the weights?
#
# **3.** A language model reads the tokens at positions $0, \dots, t$. At which position is the token that its
# prediction at $t$ is compared with?

# %%
predict("quiz 1", ...)  # "yes" or "no"
predict("quiz 2", ...)  # a shape
predict("quiz 3", ...)  # "t - 1", "t" or "t + 1"

# %% [markdown]
# ## 1. A language that nobody speaks
#
# To check where a model attends while it translates, you need sentences whose word-by-word **alignment** is known: for each
# word of the translation, the source word that it comes from. So here is **Oru**, a language made for this lesson. Each English
# noun, adjective and verb has exactly one counterpart, but the word order differs:
#
# - The verb comes after its object, and *today*, *again* or *often* comes first.
# - An adjective follows its noun. *The* becomes `ta`, after noun and adjective; *a* has no counterpart.
# - The object, the one that the verb acts on, is followed by `ka`.
# - A clause with *that* comes *before* its noun, and ends with `mo`.
# - The last verb is followed by `ni` if the subject of the sentence is alive, and by `nu` if it is a thing. In the alignment,
#   this word comes from the subject.
#
# | English | Oru |
# |---|---|
# | the hen sees a boat | `kito ta melu ka zami ni` |
# | a tree hides the old fox again | `uzu suva raso vata ta ka oket nu` |
# | the hen that likes a small fox sees a boat | `raso pilo ka ulin mo kito ta melu ka zami ni` |
#
# The grammar makes over thirty billion sentences, so no model can learn them by heart. (Its English is rough: *a old fox*.) One
# word has two translations. For *often*, one speaker in three says `ifa`; the others say `ro`, and then one of four words for
# their mood.
#
# You need not follow the code. `sentence` makes a random sentence with its alignment: for each word of Oru, the position of its
# English word, or −1 if it has none, like `ka`.

# %%
ALIVE = {"hen": "kito", "fox": "raso", "child": "pani", "king": "doro", "wolf": "gare"}
THINGS = {"boat": "melu", "tree": "suva", "river": "luma", "house": "taku"}
NOUNS = ALIVE | THINGS
ADJECTIVES = {"small": "pilo", "old": "vata", "red": "sofi", "tired": "nemu", "wet": "jaku"}
VERBS = {"sees": "zami", "hides": "oket", "likes": "ulin", "carries": "ibra"}
WHEN = {"today": "eno", "again": "uzu"}
MOODS = ["ke", "po", "ra", "shu"]
PAD, BEGIN, END = 0, 1, 2  # ids that are not words
ENGLISH = ["", "begin", "end", "the", "a", "that", "often", *NOUNS, *ADJECTIVES, *VERBS, *WHEN]
SMALL_WORDS = ["ta", "ka", "mo", "ni", "nu", "ifa", "ro", *MOODS]
ORU = ["", "begin", "end", *SMALL_WORDS, *(word for d in (NOUNS, ADJECTIVES, VERBS, WHEN) for word in d.values())]


def pick(words, generator):
    """One of the words, at random."""
    return list(words)[int(torch.randint(len(words), (), generator=generator))]


def by_chance(probability, generator):
    """True with this probability."""
    return bool(torch.rand((), generator=generator) < probability)


def phrase(generator, clause=True):
    """An article, perhaps an adjective, a noun, and perhaps a clause with "that"."""
    words = [pick(["the", "a"], generator)]
    words += [pick(ADJECTIVES, generator)] if by_chance(0.5, generator) else []
    words += [pick(NOUNS, generator)]
    if clause and by_chance(0.5, generator):
        words += ["that", pick(VERBS, generator), *phrase(generator, clause=False)]
    return words


def noun_of(words):
    """The position of a phrase's first noun."""
    return next(i for i, word in enumerate(words) if word in NOUNS)


def phrase_in_oru(words, start):
    """A phrase that begins at position `start` of its sentence, in Oru: pairs of a word and its source position."""
    noun, pairs = noun_of(words), []
    if len(words) > noun + 1:  # "that", a verb and its object
        pairs += phrase_in_oru(words[noun + 3 :], start + noun + 3)
        pairs += [("ka", -1), (VERBS[words[noun + 2]], start + noun + 2), ("mo", start + noun + 1)]
    pairs += [(NOUNS[words[noun]], start + noun)]
    pairs += [(ADJECTIVES[words[1]], start + 1)] if noun == 2 else []
    return pairs + ([("ta", start)] if words[0] == "the" else [])


def in_oru(one, verb, other, when, generator=None):
    """Subject, verb, object and when, in Oru: pairs of a word and its source position, -1 where there is none."""
    last, start = len(one) + 1 + len(other), len(one) + 1
    pairs = [(WHEN[when], last)] if when in WHEN else []
    if when == "often":
        pairs = [("ifa", last)] if by_chance(1 / 3, generator) else [("ro", last), (pick(MOODS, generator), -1)]
    pairs += [*phrase_in_oru(one, 0), *phrase_in_oru(other, start), ("ka", -1), (VERBS[verb], start - 1)]
    subject = noun_of(one)
    return [*pairs, ("ni" if one[subject] in ALIVE else "nu", subject), ("end", -1)]


def sentence(generator, whens=("", "today", "again", "often")):
    """(English words, words of Oru with "end" last, the source position of each word of Oru or -1)."""
    parts = phrase(generator), pick(VERBS, generator), phrase(generator), pick(whens, generator)
    one, verb, other, when = parts
    pairs = in_oru(*parts, generator)
    return [*one, verb, *other, *([when] if when else [])], [word for word, _ in pairs], [i for _, i in pairs]


generator = torch.Generator().manual_seed(12)
for _ in range(3):
    english, oru, positions = sentence(generator)
    print(f"{' '.join(english)}\n    {' '.join(oru)}\n    {positions}")

# %% [markdown]
# ### Predict: alive or a thing
#
# How does *the wolf that carries a boat sees the river* end in Oru?

# %%
# The word after the verb: "ni" or "nu"
predict("the word after the verb", ...)

# %% tags=["demo"]
parts = "the wolf that carries a boat".split(), "sees", "the river".split(), ""
print(" ".join(word for word, _ in in_oru(*parts)))

# %% [markdown]
# So a word of the translation can depend on a source word that is far away. In a batch, all sources need the same length, and
# so do all targets. The shorter ones are padded with id 0 in both languages: sources to the longest source, targets to the
# longest target.


# %%
def batch_of(n, generator, whens=("", "today", "again", "often")):
    """n sentences: source int64 (B, S), targets int64 (B, T), alignment int64 (B, T) with -1 where there is none."""
    made = [sentence(generator, whens) for _ in range(n)]
    columns = (
        [torch.tensor([ENGLISH.index(word) for word in english]) for english, _, _ in made],
        [torch.tensor([ORU.index(word) for word in oru]) for _, oru, _ in made],
        [torch.tensor(positions) for _, _, positions in made],
    )
    return tuple(
        nn.utils.rnn.pad_sequence(column, batch_first=True, padding_value=value)
        for column, value in zip(columns, (PAD, PAD, -1), strict=True)
    )


source, targets, alignment = batch_of(4, torch.Generator().manual_seed(69))

# %% tags=["demo"]
# @title A batch of four, padded in both languages
figures.show(figures.sequences.padding(source, targets, ENGLISH, ORU))

# %% [markdown]
# ## 2. Ask another sentence
#
# **Cross-attention** is attention whose queries come from one sequence, $\mathbf{X}$ of shape `(T, D)`, and whose keys and
# values come from another, $\mathbf{Y}$ of shape `(S, D)`:
#
# $$ \operatorname{cross}(\mathbf{X}, \mathbf{Y}) = \operatorname{softmax}\!\left(
#    \frac{(\mathbf{X} \mathbf{W}_q)(\mathbf{Y} \mathbf{W}_k)^\top}{\sqrt{d_k}} \right) \mathbf{Y} \mathbf{W}_v $$
#
# with heads and $\mathbf{W}_o$ as in lesson 6. The weights have one row per position of $\mathbf{X}$ and one column per
# position of $\mathbf{Y}$. There is no causal mask: the whole source is known before the first word is written. Only its
# padding must be blocked.
#
# ### Predict: a mask without its dimensions (extra)
#
# The mask of a batch is `(B, S)`, the scores are `(B, H, T, S)`. Here $B = T = S = 4$ and $H = 1$. You write
# `scores.masked_fill(source_mask, -inf)` and forget to insert the dimensions for heads and queries. What happens?

# %%
# In sentence b: "an error", "its own padding is blocked" or "padding of other sentences is blocked"
predict("a mask without its dimensions", ...)

# %% [markdown]
# ### Exercise 1: `CrossAttention(d_model, n_heads)`
#
# *Difficulty ★★☆ · about 12 minutes*
#
# - `__init__` makes `W_q`, `W_k`, `W_v` and `W_o`, each an `nn.Linear(d_model, d_model, bias=False)`.
# - `forward` takes `x`, `(B, T, D)`, `source`, `(B, S, D)`, and optionally `source_mask`, bool `(B, S)`, True where padded. It
#   returns the output, `(B, T, D)`, and the weights of every head, `(B, H, T, S)`.
# - If a source consists of padding only, its weights and output are 0. You may use PyTorch's attention functions.
#
# **Worked example.** All matrices are the identity, and there are two heads of width 1. One query, $(1, 0)$, attends to two
# source positions, $(0, 4)$ and $(\ln 3, 8)$. In head 0 the query is 1 and the keys are 0 and $\ln 3$, so the weights are ¼ and
# ¾, and the output is $\tfrac34 \ln 3 \approx 0.82$. In head 1 the query is 0, so both weights are ½, and the output is 6.


# %% nbgrader={"grade": false, "grade_id": "CrossAttention", "locked": false, "schema_version": 3, "solution": true, "task": false}
class CrossAttention(nn.Module):
    """Attention of x to another sequence, in several heads.

    forward(x (B, T, D), source (B, S, D), source_mask bool (B, S), True where padded) returns
    (output (B, T, D), weights (B, H, T, S)). Where all of a source is padded, its weights and output are 0.
    """

    def __init__(self, d_model: int, n_heads: int) -> None:
        ### BEGIN SOLUTION
        super().__init__()
        self.n_heads = n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))
        ### END SOLUTION

    def forward(
        self, x: torch.Tensor, source: torch.Tensor, source_mask: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        ### BEGIN SOLUTION
        query, key, value = (
            projected.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)  # (B, H, T or S, K)
            for projected in (self.W_q(x), self.W_k(source), self.W_v(source))
        )
        scores = query @ key.transpose(-2, -1) / key.shape[-1] ** 0.5  # (B, H, T, S)
        if source_mask is None:
            weights = torch.softmax(scores, dim=-1)
        else:
            blocked = source_mask[:, None, None, :]  # (B, 1, 1, S): the same for all heads and queries
            weights = torch.softmax(scores.masked_fill(blocked, float("-inf")), dim=-1)
            weights = weights.masked_fill(blocked, 0.0)  # NaN where all is padded
        output = (weights @ value).transpose(1, 2).flatten(2)  # (B, T, D)
        return self.W_o(output), weights
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_CrossAttention", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(CrossAttention)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(CrossAttention)
### END HIDDEN TESTS

# %% [markdown]
# Here are the shapes in one call, for four sources and six target positions each:

# %%
torch.manual_seed(0)
output, weights = CrossAttention(16, 2)(torch.randn(4, 6, 16), torch.randn(4, source.shape[1], 16), source == PAD)
print("output", tuple(output.shape), " weights", tuple(weights.shape))
print("largest weight on padding:", weights.masked_select((source == PAD)[:, None, None]).abs().max().item())

# %% [markdown]
# ## 3. Teacher forcing
#
# The decoder, the part that writes the target, is a language model that also sees the source: it predicts each word from the
# words before it and from the source. In training, the correct words are known, so the decoder does not read its own
# predictions. At every position it reads the *correct* words so far. This is called **teacher forcing**. All positions are
# trained in one call, and the causal mask hides from each position the word that it has to predict.
#
# The first word has no word before it, so the decoder reads `begin` there.
#
# ### Exercise 2: `teacher_inputs(targets, begin)`
#
# *Difficulty ★☆☆ · about 4 minutes*
#
# Return what the decoder reads when it has to predict `targets`, int64 `(B, T)`: the id `begin`, then all targets but the last.
# Leave `targets` unchanged, because the loss needs them.
#
# **Worked example.** `targets` are $(5, 8, 2)$ and `begin` is 1. The decoder reads $(1, 5, 8)$ and has to predict $(5, 8, 2)$.


# %% nbgrader={"grade": false, "grade_id": "teacher_inputs", "locked": false, "schema_version": 3, "solution": true, "task": false}
def teacher_inputs(targets: torch.Tensor, begin: int) -> torch.Tensor:
    """What the decoder reads to predict `targets`: `begin`, then all targets but the last.

    targets: int64 (B, T). Returns a new int64 tensor (B, T).
    """
    ### BEGIN SOLUTION
    first = targets.new_full((len(targets), 1), begin)
    return torch.cat([first, targets[:, :-1]], dim=1)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_teacher_inputs", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(teacher_inputs)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(teacher_inputs)
### END HIDDEN TESTS

# %%
for reads, predicts in zip(teacher_inputs(targets, BEGIN)[0].tolist(), targets[0].tolist(), strict=True):
    print(f"reads {ORU[reads] or '(padding)':10} predicts {ORU[predicts] or '(padding: not in the loss)'}")

# %% [markdown]
# ## 4. Encoder and decoder
#
# The **encoder** reads the whole source; each position attends to all positions. Its output is called the **memory**,
# `(B, S, D)`. The **decoder** reads the target words so far and returns logits, `(B, T, N)`.
#
# Both add to each word a learned vector for its position, and continue with a block as in lesson 8: attention, then an MLP,
# each after a norm and with a residual connection. The decoder's block has one more part between its causal self-attention and
# its MLP: cross-attention to the memory.
#
# In the encoder below, self-attention is cross-attention with the same sequence in both places.


# %%
def mlp(d_model):
    """A norm, and an MLP with one hidden layer."""
    return nn.Sequential(
        nn.LayerNorm(d_model), nn.Linear(d_model, 2 * d_model), nn.ReLU(), nn.Linear(2 * d_model, d_model)
    )


class Encoder(nn.Module):
    """int64 (B, S), bool (B, S) -> memory (B, S, D)."""

    def __init__(self, d_model):
        super().__init__()
        self.words, self.positions = nn.Embedding(len(ENGLISH), d_model), nn.Embedding(24, d_model)
        self.norm, self.attention = nn.LayerNorm(d_model), CrossAttention(d_model, 4)
        self.mlp, self.last_norm = mlp(d_model), nn.LayerNorm(d_model)

    def forward(self, source, source_mask=None):
        x = self.words(source) + self.positions.weight[: source.shape[1]]
        normed = self.norm(x)
        x = x + self.attention(normed, normed, source_mask)[0]
        return self.last_norm(x + self.mlp(x))


class Decoder(nn.Module):
    """int64 (B, T), memory (B, S, D), bool (B, S) -> logits (B, T, N). `weights` keeps where it looked, (B, 1, T, S)."""

    def __init__(self, d_model, n_words):
        super().__init__()
        self.words, self.positions = nn.Embedding(n_words, d_model), nn.Embedding(28, d_model)
        self.attention = nn.MultiheadAttention(d_model, 4, bias=False, batch_first=True)
        self.cross = CrossAttention(d_model, 1)  # one head, so that there is one map to read
        self.norms, self.mlp = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(3)), mlp(d_model)
        self.logits = nn.Linear(d_model, n_words)

    def forward(self, targets_in, memory, source_mask=None):
        T = targets_in.shape[1]
        x = self.words(targets_in) + self.positions.weight[:T]
        future = torch.ones(T, T, dtype=torch.bool).triu(1)
        normed = self.norms[0](x)
        x = x + self.attention(normed, normed, normed, attn_mask=future, need_weights=False)[0]
        looked, weights = self.cross(self.norms[1](x), memory, source_mask)
        self.weights = weights.detach()
        x = x + looked
        return self.logits(self.norms[2](x + self.mlp(x)))


# %% [markdown]
# ### Exercise 3: `EncoderDecoder(encoder, decoder)`
#
# *Difficulty ★★☆ · about 8 minutes*
#
# Join any encoder and any decoder in one module.
#
# - `encode(source, source_mask=None)` returns the memory, `encoder(source, source_mask)`.
# - `decode(targets_in, memory, source_mask=None)` returns the logits, `decoder(targets_in, memory, source_mask)`.
# - `forward(source, targets_in, source_mask=None)` calls `encoder` once and `decoder` once, and returns the logits.
# - Call `encoder` and `decoder` with all arguments *by position*, never by name, and pass the mask even if it is None: their
#   own parameters may have other names, and no default.
# - Both modules must be *submodules* of yours, so that `parameters()` and `eval()` reach them. The memory may be anything, not
#   only a tensor: pass it on unchanged.
#
# **Worked example.** `encoder` and `decoder` are functions of plain numbers here: `encoder(source, source_mask)` returns
# `source + source_mask`, and `decoder(targets_in, memory, source_mask)` returns `targets_in * memory + source_mask`. With
# source 3, targets 2 and mask 1, the memory is $3 + 1 = 4$ and the logits are $2 \cdot 4 + 1 = 9$.


# %% nbgrader={"grade": false, "grade_id": "EncoderDecoder", "locked": false, "schema_version": 3, "solution": true, "task": false}
class EncoderDecoder(nn.Module):
    """An encoder and a decoder as one module; both are its submodules.

    encode(source, source_mask=None) returns what `encoder(source, source_mask)` gives, the memory, whatever it is.
    decode(targets_in, memory, source_mask=None) returns the logits of `decoder(targets_in, memory, source_mask)`.
    forward(source (B, S), targets_in (B, T), source_mask=None) calls each once and returns logits (B, T, N).
    """

    def __init__(self, encoder: nn.Module, decoder: nn.Module) -> None:
        ### BEGIN SOLUTION
        super().__init__()
        self.encoder, self.decoder = encoder, decoder
        ### END SOLUTION

    def encode(self, source: torch.Tensor, source_mask: torch.Tensor | None = None) -> Any:
        ### BEGIN SOLUTION
        return self.encoder(source, source_mask)
        ### END SOLUTION

    def decode(self, targets_in: torch.Tensor, memory: Any, source_mask: torch.Tensor | None = None) -> torch.Tensor:
        ### BEGIN SOLUTION
        return self.decoder(targets_in, memory, source_mask)
        ### END SOLUTION

    def forward(
        self, source: torch.Tensor, targets_in: torch.Tensor, source_mask: torch.Tensor | None = None
    ) -> torch.Tensor:
        ### BEGIN SOLUTION
        return self.decode(targets_in, self.encode(source, source_mask), source_mask)
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_EncoderDecoder", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(EncoderDecoder)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(EncoderDecoder)
### END HIDDEN TESTS

# %% [markdown]
# Now train it on 4,000 sentences. The model has one block on each side and a width of 64. *Review:* the loss is lesson 8's,
# without the padded positions, and the learning rate warms up and decays, here by PyTorch's `OneCycleLR`. Training takes about
# 15 seconds on one core. (The result depends on the seed: with four of five seeds, at least 99 % of the unseen sentences had
# every word right, and with one 82 %.)


# %% tags=["demo"]
def train(model, data, steps, after=None, moments=(), inputs=teacher_inputs, peak=3e-3):
    """Train with teacher forcing: returns (losses, the results of `after()` after each of the `moments`)."""
    generator = torch.Generator().manual_seed(1)
    optimizer = torch.optim.Adam(model.parameters(), lr=peak)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, peak, total_steps=steps + 1, pct_start=0.1)
    losses, seen = [], {}
    for step in range(steps + 1):
        if step in moments:
            seen[step] = after()
        rows = torch.randint(len(data[0]), (64,), generator=generator)
        source, targets, source_mask = (column[rows] for column in data)
        T = int((targets != PAD).sum(1).max())  # the longest target of this batch
        logits = model(source, inputs(targets[:, :T], BEGIN), source_mask)
        loss = F.cross_entropy(logits.flatten(0, 1), targets[:, :T].flatten(), ignore_index=PAD)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    return losses, seen


def forced(model, source, targets):
    """With teacher forcing and without gradients: logits (B, T, N)."""
    with torch.no_grad():
        return model(source, teacher_inputs(targets, BEGIN), source == PAD)


def right_sentences(model, source, targets):
    """Whether each sentence is right in every word, with teacher forcing: bool (B,)."""
    return ((forced(model, source, targets).argmax(-1) == targets) | (targets == PAD)).all(-1)


data = batch_of(4000, torch.Generator().manual_seed(1))
training_data = data[0], data[1], data[0] == PAD
unseen = batch_of(
    200, torch.Generator().manual_seed(2), whens=("", "today", "again")
)  # these have one translation each
lengths = (unseen[0] != PAD).sum(1)  # of the sources
that = (unseen[0] == ENGLISH.index("that")).any(1)
different = torch.tensor([len(set(row)) >= 11 for row in unseen[0].tolist()])  # padding and at least 10 different words
shown = int(((lengths == 11) & that & different).int().argmax())  # a sentence to look at during the training
shown_source = unseen[0][shown][unseen[0][shown] != PAD][None]
shown_targets = unseen[1][shown][unseen[1][shown] != PAD][None]

torch.manual_seed(1)
decoder = Decoder(64, len(ORU))
model = EncoderDecoder(Encoder(64), decoder)


def look_and_keep():
    """Where the decoder looks in one sentence, and the model's numbers at this moment."""
    forced(model, shown_source, shown_targets)
    return decoder.weights[0, 0], {name: values.clone() for name, values in model.state_dict().items()}


steps = 400
moments = 0, steps // 20, steps // 10, steps // 4, steps
losses, seen = train(model, training_data, steps, look_and_keep, moments)
print(f"{right_sentences(model, *unseen[:2]).float().mean():.0%} of 200 unseen sentences have every word right,")
print("with teacher forcing.")

# %% [markdown]
# ### Predict: targets that are not shifted (extra)
#
# Next, a second model is trained in the same way, but without the shift of exercise 2: the decoder reads the `targets`
# themselves, and has to predict them. What happens to its loss?

# %%
# The loss: "falls to nearly 0", "stays where it began" or "falls as far as with shifted inputs"
predict("targets that are not shifted", ...)

# %% tags=["demo"]
# @title The loss, with shifted inputs and without
torch.manual_seed(1)
unshifted = EncoderDecoder(Encoder(64), Decoder(64, len(ORU)))
unshifted_losses, _ = train(unshifted, training_data, steps=80, inputs=lambda targets, begin: targets)
drawn = figures.sequences.unshifted(losses, unshifted_losses, len(ORU))
figures.show(drawn)

# %% [markdown]
# The model without the shift only copies. When it has to write, there is nothing to copy. The model with teacher forcing has
# learned Oru, although its loss never used the alignment. Its loss does not fall to 0, because nobody can guess how a speaker
# says *often*.
#
# ### One vector for a sentence
#
# Before attention, translation models passed a *single* vector from the encoder to the decoder (section 8). To try that,
# average the memory over its positions.
#
# ### Step: one vector (extra)
#
# *Step ★☆☆ · about 4 minutes.* Return the mean of `memory`, `(B, S, D)`, over the positions that are not padding, as a memory
# with one position, `(B, 1, D)`. `source_mask` is bool `(B, S)`, True where padded. No source is all padding.
#
# **Worked example.** The vectors $(1, 2)$, $(3, 6)$ and $(9, 9)$, of which the last is padding, give $(2, 4)$.


# %%
def one_vector(memory: torch.Tensor, source_mask: torch.Tensor) -> torch.Tensor:
    """The mean of memory (B, S, D) over the positions where source_mask (B, S) is False. Returns (B, 1, D)."""
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(one_vector)


# %%
class OneVectorDecoder(Decoder):
    """A decoder that sees only the mean of the memory."""

    def forward(self, targets_in, memory, source_mask=None):
        return super().forward(targets_in, one_vector(memory, source_mask))


# %% [markdown]
# ### Predict: without attention to the words
#
# Another model has the same encoder and decoder, the same data and the same number of steps, but its decoder sees only this one
# vector. The model with attention gets every word of nearly all unseen sentences right. What share of the sentences does the
# new model get right?

# %%
# The share of sentences with every word right: "nearly all", "about two in three" or "fewer than half"
predict("one vector for a sentence", ...)

# %% tags=["demo"]
torch.manual_seed(1)
narrow = EncoderDecoder(Encoder(64), OneVectorDecoder(64, len(ORU)))
train(narrow, training_data, steps=400)
both = {"attention": model, "one vector": narrow}
right = {name: right_sentences(one, *unseen[:2]).float() for name, one in both.items()}
print("; ".join(f"{name}: {share.mean():.0%} of the sentences have every word right" for name, share in right.items()))

# %% tags=["demo"]
# @title The share of sentences with every word right, by the length of the source
drawn = figures.sequences.by_length(right, lengths)
figures.show(drawn)

# %% [markdown]
# One vector of 64 numbers is enough for some short sentences. The longer the sentence, the more of it is lost, while attention
# can look at every word again.

# %% [markdown]
# ## 5. Read the alignment
#
# The weights of the decoder's cross-attention show where it looked when it predicted each word. The paper that introduced
# attention in 2014 has such a picture: an alignment of two sentences that nobody had taught the model. Row $t$ belongs to the
# query at position $t$, which has *read* word $t - 1$ (for $t = 0$: `begin`) and has to *predict* word $t$.

# %% tags=["demo"]
# @title The weights of one unseen sentence, with the true alignment framed
english, oru = [ENGLISH[i] for i in shown_source[0].tolist()], [ORU[i] for i in shown_targets[0].tolist()]
truth = unseen[2][shown, : len(oru)].tolist()
drawn = figures.sequences.at_moment(seen, oru, english, truth, moment=len(seen) - 1)
figures.show(drawn)

# %% [markdown]
# The frames jump back and forth, because the order crosses: the clause with *that* comes before its noun, and each verb after
# its object. Most of the large weights follow them. The rows of `ka` and `end` have no frame, but their weights must sum to 1
# as well, so they look somewhere. Move the slider through the training, and watch which words find their frames first.

# %% tags=["demo"]
# @title Slider: the same sentence during training
look = {"moment": (0, len(seen) - 1, 1), "start": 0, "strip": [0, 1, 2, 3]}
sliders.slider(figures.sequences.at_moment, seen, oru, english, truth, **look)

# %% [markdown]
# One sentence proves little, so count over many.
#
# ### Exercise 4: `alignment_error(weights, alignment)`
#
# *Difficulty ★★☆ · about 8 minutes*
#
# `weights`, `(T, S)`, are the weights of one sentence, and `alignment`, int64 `(T,)`, is the true source position of each
# target word, or −1 where it has none. Return the share of the words *that have a source* whose largest weight is elsewhere: a
# tensor without dimensions, in the dtype of the weights. Return 0 if no word has a source.
#
# **Worked example.** The rows are $(0.7, 0.2, 0.1)$, $(0.3, 0.3, 0.4)$, $(0.1, 0.8, 0.1)$ and $(0.6, 0.1, 0.3)$, and the
# alignment is $(0, 2, 0, -1)$. The first two rows have their largest weight at the true position, the third does not, and the
# fourth does not count: ⅓.


# %% nbgrader={"grade": false, "grade_id": "alignment_error", "locked": false, "schema_version": 3, "solution": true, "task": false}
def alignment_error(weights: torch.Tensor, alignment: torch.Tensor) -> torch.Tensor:
    """The share of targets that look elsewhere: the largest weight of their row is not at their source.

    weights: (T, S); alignment: int64 (T,), the source position of each target, -1 where it has none.
    Returns a tensor without dimensions, in the dtype of weights: counted over targets that have a source, 0 if none has.
    """
    ### BEGIN SOLUTION
    has_source = alignment >= 0
    if not has_source.any():
        return weights.new_zeros(())
    elsewhere = weights.argmax(dim=-1) != alignment  # (T,)
    return elsewhere[has_source].to(weights.dtype).mean()
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_alignment_error", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(alignment_error)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(alignment_error)
### END HIDDEN TESTS

# %% tags=["demo"]
# @title The error over all unseen sentences, and for each kind of word
from course.models import translation

forced(model, *unseen[:2])
kinds = {"noun": NOUNS.values(), "adjective": ADJECTIVES.values(), "verb": VERBS.values(), "when": WHEN.values()}
kinds |= {"ta": ["ta"], "mo": ["mo"], "ni or nu": ["ni", "nu"]}
translation.report_alignment(alignment_error, decoder.weights[:, 0], *unseen[1:], ORU, kinds)

# %% [markdown]
# Nearly all words are predicted correctly, but some kinds of word look elsewhere. Which ones depends on the seed of the
# training: with five seeds, the mean error was between 8 and 38 % (measured in November 2026). How can a word be correct if its
# query looked at another position?
#
# The memory is not the sentence itself. The encoder has attention, too, so the vector at the position of a noun may already
# contain whether *the* or *a* came before it. The decoder looks where the *information* is. So an alignment suggests what a
# model does, but does not prove it. Lesson 11 shows how to test such a claim: remove something and measure.

# %% [markdown]
# ## 6. What greedy does not find
#
# With teacher forcing, the model reads the correct words. When it translates, it reads the words that it has written itself.
# This is called **free running**. The simplest way to choose the words is **greedy search**: always take the most probable next
# one. The source is encoded once; the decoder runs once per word.


# %%
def step_of(model, source):
    """For one sentence (1, S): a function from a list of ids to the log-probabilities (N,) of the next one."""
    mask = source == PAD
    with torch.no_grad():
        memory = model.encode(source, mask)

    def step(ids):
        with torch.no_grad():
            return model.decode(torch.tensor([ids]), memory, mask)[0, -1].log_softmax(-1)

    return step


# %% [markdown]
# ### Step: write greedily
#
# *Step ★☆☆ · about 4 minutes.* `step` maps a list of ids, `begin` first, to the log-probabilities `(N,)` of the next one. Start
# with `[begin]` and append the most probable id, a plain int, until it is `end` or there are `max_length` ids after `begin`.
# Return the list.
#
# **Worked example.** If id 4 is the most probable after `begin` and `end` is the most probable after 4, the result is
# `[begin, 4, end]`; with `max_length` 1 it is `[begin, 4]`.


# %%
def greedy(step: Callable[[list[int]], torch.Tensor], begin: int, end: int, max_length: int) -> list[int]:
    """The most probable next id, again and again: a list from `begin` to `end`, at most max_length ids after begin."""
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(greedy)

# %% tags=["demo"]
written = greedy(step_of(model, shown_source), BEGIN, END, 27)
print(" ".join(english), "\n   ", " ".join(ORU[i] for i in written[1:-1]))

# %% [markdown]
# ### Predict: with a teacher and without
#
# After 100 of its 400 steps, the model predicts at least eight of ten words correctly with teacher forcing. In free running,
# what share of the *sentences* has every word right: about the same as that share of words, about two in three, or less than
# half?

# %%
# The share of sentences with every word right: "about the same", "about two in three" or "less than half"
predict("sentences in free running", ...)

# %% tags=["demo"]
# @title The model after 100 steps: with a teacher, and without
young = EncoderDecoder(Encoder(64), Decoder(64, len(ORU)))
young.load_state_dict(seen[sorted(seen)[3]][1])
real, wanted = unseen[0][:100], unseen[1][:100]
freely = translation.translate(
    real, lambda row: greedy(step_of(young, row), BEGIN, END, wanted.shape[1]), wanted.shape[1]
)
found = {"teacher forcing": forced(young, real, wanted).argmax(-1), "free running": freely}
drawn = figures.sequences.by_position(translation.report_words(wanted, found), sorted(seen)[3])
figures.show(drawn)

# %% [markdown]
# Up to its first mistake, a model reads the same words either way, so the share of correct *sentences* is the same. But in free
# running, the model reads its mistake when it predicts all later words. A loss that is measured with teacher forcing does not
# show this.
#
# ### Predict: the most probable translation
#
# For a sentence with *often*, one speaker in three says `ifa`. Two in three say `ro`, and then one of four words for the mood,
# each equally often. The rest of the sentence is always the same. With which word does the most probable *whole* translation
# begin?

# %%
# The first word: "ifa" or "ro"
predict("the most probable translation", ...)

# %% [markdown]
# Greedy search decides on the first word before it sees that `ro` splits into four. The same problem fits in a small table, for
# four ids and a `step` that depends on the last id only. Rows: the last id. Columns: the probability of the next one.
#
# | after | 0 (*begin*) | 1 | 2 | 3 (*end*) |
# |---|--:|--:|--:|--:|
# | 0 | 0.0 | **0.5** | 0.4 | 0.1 |
# | 1 | **0.3** | 0.2 | 0.25 | 0.25 |
# | 2 | 0.02 | 0.04 | 0.04 | **0.9** |
# | 3 | **0.4** | 0.3 | 0.2 | 0.1 |
#
# Greedy search takes 1, because 0.5 is more than 0.4, but after 1 no id has more than 0.3. If you also keep the second best,
# you find 2 and then 3, with the probability $0.4 \cdot 0.9 = 0.36$.
#
# **Beam search** keeps the `width` best sequences of each length. It continues each of them by every id, and of all these
# continuations together it keeps the `width` most probable. Those that end with `end` are finished and put aside; the others go
# on.
#
# In the last step, it compares the finished sequences and those that have reached `max_length`. It does not compare their
# probabilities: every further token makes a probability smaller, so short sequences would have an advantage. It compares the
# **mean log-probability per token**,
#
# $$ \frac{1}{T} \sum_{t=1}^{T} \ln p(y_t \mid y_0, \dots, y_{t-1}) $$
#
# where $y_0$ is `begin`, which is given and not predicted, and $T$ counts the tokens after it, including `end`.

# %% tags=["demo"]
# @title Beam search with a width of 2: the sums of log-probabilities for two lengths
figures.show(figures.sequences.two_beams())

# %% [markdown]
# ### Step: the mean log-probability (extra)
#
# *Step ★★☆ · about 5 minutes.* Compute the formula above for `ids`, a list that begins with `begin`. `step` maps the ids so far
# to the log-probabilities of the next one. Return a plain number.
#
# **Worked example.** In the table, $(0, 2, 3)$ has the log-probabilities $\ln 0.4$ and $\ln 0.9$, so the result is
# $-1.02 / 2 = -0.51$.


# %%
def mean_log_probability(step: Callable[[list[int]], torch.Tensor], ids: list[int]) -> float:
    """The mean log-probability of the tokens of `ids` after the first one."""
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(mean_log_probability)

# %% [markdown]
# ### Exercise 5: `beam_search(step, begin, end, width, max_length)`
#
# *Difficulty ★★★ · about 20 minutes*
#
# - `step` maps a list of ids, `begin` first, to the log-probabilities `(N,)` of the next one. Do not change the tensor that it
#   returns.
# - At each length, keep the `width` most probable of all continuations. Those of them that end with `end` count among the
#   `width` of this length, but are not continued. At the next length, `width` continuations are kept again.
# - Of the finished sequences and those cut off at `max_length` ids after `begin`, return the one with the best mean: a list of
#   plain ints from `begin` on, with `end` last if it is finished. `width=1` is greedy search.
# - The probability of a long sequence can be too small for float32, so add logarithms.
# - Raise a `ValueError` that names the argument and its value unless `width` and `max_length` are at least 1.
#
# **Worked example.** In the table, with `begin` 0, `end` 3 and at most 3 ids after `begin`: width 1 gives $(0, 1, 0, 1)$, with
# a mean of −0.86. Width 2 is the picture: $(0, 2, 3)$ is finished with a sum of −1.02, a mean of −0.51, and nothing later is
# better.


# %% nbgrader={"grade": false, "grade_id": "beam_search", "locked": false, "schema_version": 3, "solution": true, "task": false}
def beam_search(
    step: Callable[[list[int]], torch.Tensor], begin: int, end: int, width: int, max_length: int
) -> list[int]:
    """The ids of the best sequence that the search finds, from `begin` on, with `end` where it ended.

    step: maps a list of ids, `begin` first, to the log-probabilities (N,) of the next one, which are left as they were.
    Right for long sequences, too, whose probabilities are below what float32 holds.
    Raises ValueError unless width and max_length are at least 1; the message names the argument and its value.
    """
    ### BEGIN SOLUTION
    for name, number in (("width", width), ("max_length", max_length)):
        if number < 1:
            raise ValueError(f"{name} is {number}, and must be at least 1")
    running, done = [(0.0, [begin])], []  # pairs: the sum of log-probabilities, the ids
    for _ in range(max_length):
        longer = [(total + p, [*ids, i]) for total, ids in running for i, p in enumerate(step(ids).tolist())]
        best = sorted(longer, reverse=True)[:width]
        done += [one for one in best if one[1][-1] == end]
        running = [one for one in best if one[1][-1] != end]
    _, ids = max(done + running, key=lambda one: one[0] / (len(one[1]) - 1))
    return ids
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_beam_search", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(beam_search)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(beam_search)
### END HIDDEN TESTS

# %% [markdown]
# Now the fully trained model translates 30 unseen sentences with *often*, by greedy search and by beam search with width 2.


# %% tags=["demo"]
# @title Sentences with "often": greedy search, and beam search with a width of 2
often = batch_of(30, torch.Generator().manual_seed(3), whens=("often",))
found = (lambda step: greedy(step, BEGIN, END, 27)), (lambda step: beam_search(step, BEGIN, END, 2, 27))
translation.compare_searches(often[0], lambda row: step_of(model, row), *found, mean_log_probability, ORU)

# %% [markdown]
# Beam search looks for the translation that is *most probable* for the model. You want a *correct* one, and the two agree only
# as far as the model is right. For sentences without *often*, this model is nearly sure of each word, so a beam costs about
# `width` times as much and rarely finds anything new.

# %% [markdown]
# ## Your experiment (extra)
#
# *Experiment ★★☆ · about 8 minutes.* **Into how many moods must `ro` split before greedy search is misled?** `speaker(moods)`
# is a `step` for a language with one sentence: id 2 (`ifa`, probability ⅓), or id 3 (`ro`, ⅔) and then one of `moods` ids, all
# equally probable; after that, six more words and `end`, which are certain. `begin` is 0, `end` is 1.
#
# Your finding is the smallest number of moods for which the sequence with the best mean begins with `ifa`. Find it by calls of
# your `beam_search` with a width of 20 and a `max_length` of 12. Greedy search cannot find it.


# %%
def speaker(moods):
    """A `step` for a language with one sentence: ids 0 begin, 1 end, 2 ifa, 3 ro, 4 the other words, 5 … the moods."""

    def step(ids):
        chances = torch.zeros(5 + moods)
        if len(ids) == 1:
            chances[2], chances[3] = 1 / 3, 2 / 3
        elif ids[-1] == 3:
            chances[5:] = 1 / moods
        else:
            chances[4 if ids.count(4) < 6 else 1] = 1.0
        return chances.log()

    return step


# Your code: call `beam_search` for each number of moods

finding = ...  # a number of moods

# %% tags=["demo"]
check("experiment", finding)

# %% [markdown]
# ## 7. A picture is a sequence, too
#
# Cross-attention needs a sequence of vectors, `(B, S, D)`, whatever they represent. A **vision transformer** cuts an image into
# squares, called **patches**, and a linear layer brings the numbers of each patch to the model's width. Speech models do the
# same with short stretches of sound.
#
# ### Predict: the shape of the patches
#
# Cut images of the shape `(1, 3, 8, 12)` (batch, channels, height, width) into patches of 4 by 4 pixels, one row of numbers per
# patch. What is the shape of the result?

# %%
# The shape, such as [1, 2, 3]
predict("the shape of the patches", ...)

# %% [markdown]
# ### Exercise 6: `patches(images, size)`
#
# *Difficulty ★★☆ · about 10 minutes*
#
# Cut images, `(B, C, H, W)`, into patches of `size` by `size` pixels, and return one row of numbers for each patch:
# `(B, H/size * W/size, C * size * size)`. (Here `H` and `W` are height and width.) The patches are in reading order, from left
# to right and then down. Within a patch, the order is channel, row, column.
#
# Raise a `ValueError` that names an argument and its value or shape unless `size` is at least 1 and divides height and width.
#
# **Worked example.** An image of 4 by 4 pixels with one channel contains the numbers 0 to 15. Cut into patches of 2 by 2 it
# becomes $(0, 1, 4, 5)$, $(2, 3, 6, 7)$, $(8, 9, 12, 13)$, $(10, 11, 14, 15)$. In memory, 0, 1, 2, 3 come first, so `reshape`
# alone gives strips, not squares.


# %% nbgrader={"grade": false, "grade_id": "patches", "locked": false, "schema_version": 3, "solution": true, "task": false}
def patches(images: torch.Tensor, size: int) -> torch.Tensor:
    """Images as sequences of patches, patch row after patch row: (B, C, H, W) -> (B, H/size * W/size, C * size * size).

    The numbers of a patch are in the order channel, row, column. Raises ValueError unless `size` is at least 1
    and divides H and W; the message names an argument and its value or shape.
    """
    ### BEGIN SOLUTION
    H, W = images.shape[-2:]
    if size < 1 or H % size or W % size:
        raise ValueError(f"size is {size}, and does not divide a height of {H} and a width of {W}")
    cut = images.unflatten(3, (-1, size)).unflatten(2, (-1, size))  # (B, C, rows, size, columns, size)
    squares = cut.permute(0, 2, 4, 1, 3, 5)  # (B, rows, columns, C, size, size)
    return squares.flatten(3).flatten(1, 2)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_patches", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(patches)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(patches)
### END HIDDEN TESTS

# %% [markdown]
# In this task, images of 12 by 12 pixels have signs in three of their nine patches, and the decoder has to name them in reading
# order. The encoder is one linear layer and an embedding of positions. The decoder is the class that learned Oru, with another
# vocabulary.

# %% tags=["demo"]
# @title Images, and a model that reads them
from course.models.drawn_signs import SIGNS, ImageEncoder, train_reader

torch.manual_seed(0)
reader = Decoder(48, len(SIGNS))
images, signs = train_reader(EncoderDecoder(ImageEncoder(48, patches), reader), train, teacher_inputs)

# %% tags=["demo"]
# @title Where the decoder looks while it names each sign
drawn = figures.sequences.one_reading(images, signs, reader.weights, SIGNS)
figures.show(drawn)

# %% [markdown]
# ## 8. How it came about (extra)
#
# | year | what | what was new |
# |---|---|---|
# | 2014 | [Sequence to sequence](https://arxiv.org/abs/1409.3215), Sutskever, Vinyals and Le | A recurrent network reads a sentence word by word into *one* vector, and another one writes the translation from it. What the vector cannot hold is lost |
# | 2014 | [Attention](https://arxiv.org/abs/1409.0473), Bahdanau, Cho and Bengio | The encoder keeps a vector *for each word*. At every step the decoder scores all of them, by a small network instead of a dot product, and takes their weighted mean. Its figure 3 is the picture of section 5 |
# | 2017 | [Attention is all you need](https://arxiv.org/abs/1706.03762), Vaswani and others | No recurrence: attention computes all positions of a training sentence at once. Encoder and decoder, as in this lesson |
# | 2018 | [BERT](https://arxiv.org/abs/1810.04805), Devlin and others | Only the encoder, without a causal mask: it fills gaps and sees both sides of a word |
# | 2018, 2020 | GPT and [GPT-3](https://arxiv.org/abs/2005.14165), Brown and others | Only the decoder, without a source: it continues a text |
# | 2020 | [Vision transformer](https://arxiv.org/abs/2010.11929), Dosovitskiy and others | The patches of section 7, and an encoder |
# | 2022 | [Whisper](https://arxiv.org/abs/2212.04356), Radford and others | Sound in, text out: an encoder for stretches of sound, and a decoder with cross-attention |
#
# The years are those in which each paper first appeared. Like the small model of lesson 8, most language models of today have
# no encoder. One stack is simpler than two, every token trains it, and *translate: the hen sees a boat* is a text like any
# other: the source becomes the beginning of the same sequence. Cross-attention remains where the second sequence is of another
# kind: for sound, for images, and in many models that make images from text, where the image attends to the sentence.

# %% [markdown]
# ## 9. A bug that shipped (extra)
#
# In two much-used libraries, beam search divided the sum of log-probabilities of the new tokens by the length of the whole
# sequence, prompt included.
#
# ```diff
# - score = sum_logprobs / len(sequence)                    # prompt and answer
# + score = sum_logprobs / (len(sequence) - prompt_length)  # the answer
# ```
#
# With a long prompt, all divisors are nearly equal. So the sum decides, and answers are too short
# ([vllm-project/vllm#2606](https://github.com/vllm-project/vllm/issues/2606),
# [huggingface/transformers#27351](https://github.com/huggingface/transformers/pull/27351)).
#
# More bugs that shipped are in the notebook `bug_museum.ipynb`.

# %% [markdown]
# ## Challenge: `clipped_precision(written, reference, n)` (extra)
#
# *Challenge ★★ · not graded · about 10 minutes*
#
# In this lesson, a translation was right or wrong, word by word. Sentences of a real language have many good translations, and
# one extra word at the beginning moves all the others. So a common measure counts which **n-grams**, sequences of $n$
# neighbouring words, also occur in a reference translation, at any position. All words of *the the the the* may occur in the
# reference, so an n-gram counts at most as often as the reference contains it.
#
# `written` and `reference` are lists of ids. Return the share of the n-grams of `written`, repetitions included, that count, as
# a float; 0.0 if `written` is shorter than `n`. Raise a `ValueError` that names `n` if it is below 1. The measure **BLEU**
# combines four such shares, for $n = 1, \dots, 4$, with a penalty for short translations
# ([Papineni et al. 2002](https://aclanthology.org/P02-1040/)).
#
# **Worked example.** Written is $(4, 4, 4, 5)$, the reference is $(4, 5, 4)$. Single ids: the reference has two 4s and one 5,
# so three of four count, 0.75. Pairs: $(4, 5)$ counts, and neither $(4, 4)$ does, so ⅓.


# %%
def clipped_precision(written: list[int], reference: list[int], n: int) -> float:
    """The share of the n-grams of `written` that `reference` has, each counted at most as often as there.

    0.0 where `written` is shorter than n. ValueError if n < 1.
    """
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(clipped_precision)

# %% [markdown]
# ## Summary
#
# 1. In cross-attention, queries come from the target, keys and values from the source. Only the source's padding is masked.
# 2. Teacher forcing gives the decoder the correct words, shifted by one, and trains all positions at once. In free running, it
#    reads its own words and its own mistakes.
# 3. One vector for the whole source loses much of a long sentence. Attention can look at every word again, in any order.
# 4. The weights show where the decoder found its information, which need not be where the word came from.
# 5. Beam search keeps the `width` best of each length and compares means. The source need not be text: any sequence of vectors
#    will do, such as the patches of an image.
#
# $$ \operatorname{cross}(\mathbf{X}, \mathbf{Y}) = \operatorname{softmax}\!\left(
#    \frac{(\mathbf{X} \mathbf{W}_q)(\mathbf{Y} \mathbf{W}_k)^\top}{\sqrt{d_k}} \right) \mathbf{Y} \mathbf{W}_v $$

# %% tags=["demo"]
# @title What you have built so far
drawn = figures.diagram.two_sequences(complete=True, weights=decoder.weights[0, 0, :8, :8])
text = "A shows the first 8 rows and columns of the trained model's weights."
figures.show(drawn, caption=f"{text}")

# %% [markdown]
# **To read on:** Bahdanau et al., [Neural Machine Translation by Jointly Learning to Align and
# Translate](https://arxiv.org/abs/1409.0473), with the first alignments · Vaswani et al., [Attention Is All You
# Need](https://arxiv.org/abs/1706.03762), section 3 · Dosovitskiy et al., [An Image is Worth 16x16
# Words](https://arxiv.org/abs/2010.11929).

# %% tags=["demo"]
progress()
