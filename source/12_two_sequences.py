# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Lesson 12: Two sequences
#
# Everything so far looked at itself: each token of a text asked the other tokens of the same text. Attention was
# invented for something else. In 2014 a network that translated from English to French was to look back at the English
# while it wrote the French. **How does one sequence ask another, how is a model trained that reads one and writes the
# other, and what can the other one be?**
#
# You will build cross-attention, join an encoder and a decoder, and train them on a language that nobody speaks, in some
# ten seconds. Then you read off the weights which word came from which, watch the model write without a teacher, write
# the search that finds what the greedy way misses, and put a picture in the place of the sentence. At the end stands
# the history of it all in one page.
#
# **You need** masks (lesson 5), heads (lesson 6) and training (lesson 8). Nothing from your earlier notebooks has to be
# copied.
#
# **Time:** about 90 minutes
#
# | letter | meaning |
# |---|---|
# | $B$, $H$ | sentences in a batch, heads |
# | $S$ | positions of the **source**, which is read |
# | $T$ | positions of the **target**, which is written |
# | `D`, `K` | in shapes, the width of the model and of one head; $d_k$ in formulas |
# | $N$ | the vocabulary: how many different tokens can be written |
# | **memory** | what the encoder makes of the source, and what the decoder looks at |

# %%
import math

import torch
import torch.nn.functional as F
from course import begin, check, figures, hint, progress, sliders, torch_fallbacks, use
from torch import nn

begin("12_two_sequences")

# %% [markdown]
# ## Review: three questions on what came before
#
# *Review* · about 3 minutes. Answer each in your head or on paper before you unfold its answer. Where one will not
# come back, look at the summary of the lesson that it is from.
#
# **1.** A mask is True at a cell. May the query look at that key? And what are the weights of a row in which all is True?
#
# <details><summary>Answer</summary>
#
# No: True is blocked. A row that is blocked throughout has weights 0, and an output of 0, never NaN (lesson 5).
#
# </details>
#
# **2.** Queries are `(B, H, T, K)`, keys `(B, H, S, K)`. What is the shape of the weights, and over which dimension do
# they sum to 1?
#
# <details><summary>Answer</summary>
#
# `(B, H, T, S)`, a row for each query, and each row sums to 1: over the last dimension, the keys (lessons 3 and 6).
#
# </details>
#
# **3.** A language model reads tokens $w_0, \dots, w_t$. Which token are the logits of place $t$ compared with?
#
# <details><summary>Answer</summary>
#
# $w_{t+1}$: targets are one step ahead of the inputs (lesson 8).
#
# </details>

# %%
from collections.abc import Callable
from typing import Any

# %% [markdown]
# ## 1. A language that nobody speaks
#
# To learn to read an alignment one needs sentences whose alignment one knows. So here is **Oru**, a language of our own.
# Every English noun, adjective and verb has one word in it. But the order is another:
#
# - the word for *when* comes first, the verb comes last,
# - an adjective stands behind its noun,
# - *the* becomes `ta`, behind all that belongs to its noun, and *a* becomes nothing at all,
# - whoever something is done to is marked by `ka`, a word that English does not have.
#
# | English | Oru |
# |---|---|
# | the hen sees a fox | `kito ta raso ka zami` |
# | a small hen finds the old boat today | `eno kito pilo melu vata ta ka oket` |
#
# The next cell holds the dictionary and the grammar. `sentence` makes a random one, with the truth about it: for each
# word of Oru the place of the English word that it came from, or −1 where there is none. Some 150,000 sentences are
# possible (its English is rough: *a old fox*). Ids 0, 1 and 2 are no words: padding, *begin* and *end*.

# %%
NOUNS = {
    "hen": "kito",
    "fox": "raso",
    "boat": "melu",
    "child": "pani",
    "king": "doro",
    "tree": "suva",
    "wolf": "gare",
    "river": "luma",
}
ADJECTIVES = {"small": "pilo", "old": "vata", "red": "sofi", "tired": "nemu", "wet": "jaku"}
VERBS = {"sees": "zami", "finds": "oket", "likes": "ulin", "carries": "ibra"}
WHEN = {"today": "eno", "often": "ifa", "again": "uzu"}
PAD, BEGIN, END = 0, 1, 2
ENGLISH = ["", "", "", "the", "a", *NOUNS, *ADJECTIVES, *VERBS, *WHEN]
ORU = ["", "begin", "end", "ta", "ka", *(word for d in (NOUNS, ADJECTIVES, VERBS, WHEN) for word in d.values())]


def pick(words, generator):
    """One of the words."""
    return list(words)[torch.randint(len(words), (), generator=generator)]


def phrase(generator):
    """An article, in half of all cases an adjective, and a noun."""
    adjective = [pick(ADJECTIVES, generator)] if torch.rand((), generator=generator) < 0.5 else []
    return [pick(["the", "a"], generator), *adjective, pick(NOUNS, generator)]


def in_oru(words, start):
    """A phrase that begins at place `start` of its sentence, in Oru: pairs of a word and its source."""
    said = [(NOUNS[words[-1]], start + len(words) - 1)]
    said += [(ADJECTIVES[words[1]], start + 1)] if len(words) == 3 else []
    return said + ([("ta", start)] if words[0] == "the" else [])


def sentence(generator):
    """(English words, words of Oru with `end` last, for each of these the place of its source or -1)."""
    one, verb, other = phrase(generator), pick(VERBS, generator), phrase(generator)
    when = [pick(WHEN, generator)] if torch.rand((), generator=generator) < 0.5 else []
    english = [*one, verb, *other, *when]
    said = [(WHEN[word], len(english) - 1) for word in when]
    said += in_oru(one, 0) + in_oru(other, len(one) + 1) + [("ka", -1), (VERBS[verb], len(one)), ("end", -1)]
    return english, [word for word, _ in said], [place for _, place in said]


generator = torch.Generator().manual_seed(12)
for _ in range(3):
    english, oru, places = sentence(generator)
    print(f"{' '.join(english):42} {' '.join(oru):40} {places}")

# %% [markdown]
# A batch needs sentences of one length, so the shorter ones are filled up with id 0, on **both sides**: sources to the
# longest source, translations to the longest translation.


# %%
def batch_of(n, generator):
    """n sentences: source int64 (B, S), targets int64 (B, T), alignment int64 (B, T) with -1 where there is none."""
    made = [sentence(generator) for _ in range(n)]
    columns = (
        [torch.tensor([ENGLISH.index(word) for word in english]) for english, _, _ in made],
        [torch.tensor([ORU.index(word) for word in oru]) for _, oru, _ in made],
        [torch.tensor(places) for _, _, places in made],
    )
    fillings = (PAD, PAD, -1)
    return tuple(
        nn.utils.rnn.pad_sequence(column, batch_first=True, padding_value=filling)
        for column, filling in zip(columns, fillings, strict=True)
    )


source, targets, alignment = batch_of(4, torch.Generator().manual_seed(6))

# %% tags=["demo"]
# @title A batch of four, filled up on both sides
figures.show(
    figures.sequences.padding(source, targets, ENGLISH, ORU),
    caption="Four sentences and their translations. Hatched: padding.",
)

# %% [markdown]
# ## 2. Ask another sentence
#
# **Cross-attention** is attention whose queries come from one sequence, $\mathbf{X}$ of shape `(T, D)`, and whose keys
# and values come from another, $\mathbf{M}$ of shape `(S, D)`:
#
# $$ \operatorname{cross}(\mathbf{X}, \mathbf{M}) = \operatorname{softmax}\!\left(
#    \frac{(\mathbf{X} \mathbf{W}_q)(\mathbf{M} \mathbf{W}_k)^\top}{\sqrt{d_k}} \right) \mathbf{M} \mathbf{W}_v $$
#
# (with heads and $\mathbf{W}_o$ as in lesson 6). There is one row of weights for each position of $\mathbf{X}$ and one
# column for each of $\mathbf{M}$. No causal mask: the source is there from the start, and whoever writes may look at all
# of it. What must be blocked is its padding.
#
# ### Predict first
#
# The mask of a batch is `(B, S)`, the scores are `(B, H, T, S)`. With $B = T = S = 4$ and one head you forget to give
# the mask its missing dimensions, and write `scores.masked_fill(source_mask, -inf)`. Is there an error? And if not, what
# is blocked?
#
# <details><summary>Answer</summary>
#
# No error. Shapes are lined up from the right: the mask's $B$ meets $T$. So query 0 of every sentence gets the padding of
# sentence 0, query 1 that of sentence 1. It stays unseen as long as the sizes happen to agree, and nothing falls over.
#
# </details>
#
# ### Exercise 1: `CrossAttention(d_model, n_heads)`
#
# *Difficulty ★★☆ · about 12 minutes*
#
# A module with `W_q`, `W_k`, `W_v` and `W_o`, all `nn.Linear(d_model, d_model, bias=False)`. Call it with `x`
# `(B, T, D)`, `source` `(B, S, D)` and perhaps `source_mask`, bool `(B, S)`, True where padded; it returns the output
# `(B, T, D)` and the weights of every head, `(B, H, T, S)`. Where a source is nothing but padding, weights and output
# are 0. PyTorch's attention functions are allowed here.
#
# **On paper.** All matrices are the identity, and there are two heads of width 1. One query, (1, 0), asks two
# positions, (0, 4) and (log 3, 8). In head 0 the query is 1 and the keys are 0 and log 3: weights ¼ and ¾, and a value of
# ¾ · log 3 ≈ 0.82. In head 1 the query is 0, so both weights are ½, and the value is 6.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(CrossAttention)


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
# Until your class passes, PyTorch's attention stands in for it. Here is what the two calls of a translation look like in
# shapes: `x` is what has been written, `source` what was read.

# %%
Cross = use(CrossAttention, torch_fallbacks.CrossAttention)
torch.manual_seed(0)
output, weights = Cross(16, 2)(torch.randn(4, 6, 16), torch.randn(4, source.shape[1], 16), source == PAD)
print("output", tuple(output.shape), " weights", tuple(weights.shape), " by", Cross.whose)
print("weight on padding:", weights.masked_select((source == PAD)[:, None, None]).abs().max().item())

# %% [markdown]
# ## 3. Teacher forcing
#
# The decoder is a language model with a window on the source: it predicts each word from the words before it and from
# what it sees there. In training those words are known. So one does not let the model write; one hands it the *right*
# words so far, whatever it would have written, and asks at every place for the next one. This is called **teacher
# forcing**. All places are trained at once, in one call, and the causal mask sees to it that no place sees its own answer.
#
# The first word has no word before it. For that there is `begin`.
#
# ### Exercise 2: `teacher_inputs(targets, begin)`
#
# *Difficulty ★☆☆ · about 4 minutes*
#
# From `targets`, int64 `(B, T)`, make what the decoder reads to predict them: `begin`, then all targets but the last. The
# targets stay as they are, for the loss needs them.
#
# **On paper.** `targets` are (5, 8, 2) and `begin` is 1: the decoder reads (1, 5, 8), and has to say 5, 8, 2.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(teacher_inputs)


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
check(teacher_inputs)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(teacher_inputs)
### END HIDDEN TESTS

# %%
inputs_for = use(teacher_inputs, torch_fallbacks.teacher_inputs)
targets_in = inputs_for(targets, BEGIN)
for reads, says in zip(targets_in[0].tolist(), targets[0].tolist(), strict=True):
    print(f"reads {ORU[reads] or '(padding)':10} has to say {ORU[says] or '(padding: not in the loss)'}")
print("By", inputs_for.whose)

# %% [markdown]
# ## 4. Encoder and decoder
#
# Two modules. The **encoder** reads the whole source, each position looking at all others, and gives the *memory*
# `(B, S, D)`. The **decoder** reads the targets so far, looks at itself through a causal mask, then at the memory by
# cross-attention, then thinks for itself in an MLP, and gives logits `(B, T, N)`.
#
# Both are ordinary. The encoder below is a block in which a sentence asks *itself*: `self.attention(x, x, mask)` is
# your cross-attention with one sequence in both places. Self-attention is a special case.


# %%
class Encoder(nn.Module):
    """int64 (B, S), bool (B, S) -> memory (B, S, D)."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(len(ENGLISH), d_model), nn.Embedding(12, d_model)
        self.attention, self.norm = Cross(d_model, 4), nn.LayerNorm(d_model)

    def forward(self, source, source_mask=None):
        x = self.words(source) + self.places.weight[: source.shape[1]]
        return self.norm(x + self.attention(x, x, source_mask)[0])


class Decoder(nn.Module):
    """int64 (B, T), memory (B, S, D), bool (B, S) -> logits (B, T, N); `weights` holds where it looked, (B, 1, T, S)."""

    def __init__(self, d_model: int, n_words: int) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(n_words, d_model), nn.Embedding(12, d_model)
        self.attention = nn.MultiheadAttention(d_model, 4, bias=False, batch_first=True)
        self.cross = Cross(d_model, 1)  # one head: one map to read
        self.mlp = nn.Sequential(nn.Linear(d_model, 2 * d_model), nn.ReLU(), nn.Linear(2 * d_model, d_model))
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(3))
        self.out = nn.Linear(d_model, n_words)

    def forward(self, targets_in, memory, source_mask=None):
        T = targets_in.shape[1]
        x = self.words(targets_in) + self.places.weight[:T]
        future = torch.ones(T, T, dtype=torch.bool).triu(1)
        x = self.norms[0](x + self.attention(x, x, x, attn_mask=future, need_weights=False)[0])
        looked, self.weights = self.cross(x, memory, source_mask)
        x = self.norms[1](x + looked)
        return self.out(self.norms[2](x + self.mlp(x)))


# %% [markdown]
# ### Predict first
#
# The source's padding is blocked in the encoder and in the decoder. Nobody blocks the padding of the *targets*: the
# decoder has no mask for it. Does a real word ever look at it?
#
# <details><summary>Answer</summary>
#
# No. Padding comes last, and the causal mask lets no word see what comes after it. Only the padded places themselves look
# at padding, and what they say is left out of the loss by `ignore_index`. (With padding at the *front* it would be
# another matter.)
#
# </details>
#
# ### Exercise 3: `EncoderDecoder(encoder, decoder)`
#
# *Difficulty ★★☆ · about 8 minutes*
#
# Join any encoder and any decoder in one module. `forward(source, targets_in, source_mask=None)` asks
# `encoder(source, source_mask)` once and gives what came out to `decoder(targets_in, memory, source_mask)`, whose logits
# it returns. The two halves can be called by themselves: `encode(source, source_mask=None)` returns the memory,
# `decode(targets_in, memory, source_mask=None)` the logits. Both modules must be *parts* of yours, so that `parameters()`
# and `eval()` reach them. The memory may be anything: hand it on as it is.
#
# **On paper.** Who asks whom, in one call with the source $s$, the targets so far $t$ and the mask $p$?
# `encoder(s, p)` gives $m$; `decoder(t, m, p)` gives the logits. Two calls, and the mask is in both.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(EncoderDecoder)


# %% nbgrader={"grade": false, "grade_id": "EncoderDecoder", "locked": false, "schema_version": 3, "solution": true, "task": false}
class EncoderDecoder(nn.Module):
    """An encoder and a decoder as one module; both are its parts.

    encode(source, source_mask=None) returns what `encoder(source, source_mask)` gives, the memory, whatever it is.
    decode(targets_in, memory, source_mask=None) returns the logits of `decoder(targets_in, memory, source_mask)`.
    forward(source (B, S), targets_in (B, T), source_mask=None) asks each once and returns logits (B, T, N).
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
check(EncoderDecoder)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(EncoderDecoder)
### END HIDDEN TESTS

# %% [markdown]
# Now train it. *Review:* the loss is that of lesson 8, and the learning rate warms up and falls as it does there; here
# PyTorch's `OneCycleLR` sees to that. The model has one layer on each side, and the 3,000 sentences that it learns from
# are a small part of all there are. On the way it is asked now and then how it translates
# one sentence that it never sees in training.


# %% tags=["demo"]
def train(model, data, steps, probe=None, moments=(), batch_size=64, peak=3e-3):
    """Teacher forcing for so many steps: (losses, what `probe` gave after each of the moments)."""
    generator = torch.Generator().manual_seed(1)
    optimizer = torch.optim.Adam(model.parameters(), lr=peak)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, peak, total_steps=steps + 1, pct_start=0.1)
    losses, seen = [], {}
    for step in range(steps + 1):
        if step in moments:
            seen[step] = probe()
        rows = torch.randint(len(data[0]), (batch_size,), generator=generator)
        source, targets, source_mask = data[0][rows], data[1][rows], data[2][rows]
        logits = model(source, inputs_for(targets, BEGIN), source_mask)
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=PAD)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    return losses, seen


def forced(model, decoder, source, targets):
    """With teacher forcing and no gradients: (logits (B, T, N), weights (B, T, S))."""
    with torch.no_grad():
        logits = model(source, inputs_for(targets, BEGIN), source == PAD)
    return logits, decoder.weights[:, 0]


Joined = use(EncoderDecoder, torch_fallbacks.EncoderDecoder)
torch.manual_seed(0)
decoder = Decoder(48, len(ORU))
model = Joined(Encoder(48), decoder)
source, targets, alignment = batch_of(3000, torch.Generator().manual_seed(1))
unseen = batch_of(200, torch.Generator().manual_seed(2))
one = next(i for i, row in enumerate(unseen[0]) if (row > 0).all())  # the first of the longest
probed = unseen[0][one : one + 1], unseen[1][one : one + 1]
losses, seen = train(
    model, (source, targets, source == PAD), 300, lambda: forced(model, decoder, *probed), (0, 20, 50, 100, 300)
)
logits, weights = forced(model, decoder, *unseen[:2])
right = ((logits.argmax(-1) == unseen[1]) | (unseen[1] == PAD)).all(-1)
print(f"{right.float().mean():.0%} of 200 unseen sentences are right in every word, with teacher forcing")
print("By", Joined.whose, "and", inputs_for.whose)

# %% tags=["demo"]
# @title The loss
figures.show(
    figures.losses({"teacher forcing": losses}, {"guessing among all": math.log(len(ORU))}, every=5),
    caption=f"Cross-entropy of a word of Oru. By {Joined.whose}.",
)

# %% [markdown]
# A few seconds, and it speaks Oru. Nothing in the loss ever said which word comes from which. It said only what the next
# word is.

# %% [markdown]
# ## 5. Read the alignment
#
# The weights of the decoder's cross-attention say where it looked while it was predicting each word. That is the picture
# that made attention famous: the **alignment** of two sentences, which nobody taught.
#
# ### Predict first
#
# Row $t$ of the weights belongs to the query at place $t$: the one that has *read* target $t - 1$ and has to *say* target
# $t$. In the row of the verb, the last word of Oru, where do you expect the greatest weight? And in the row of `ka`, which
# English does not have?

# %% tags=["demo"]
# @title The weights of one unseen sentence, with frames where the truth is
length = int((probed[1] > 0).sum())
english = [ENGLISH[i] for i in probed[0][0].tolist()]
oru = [ORU[i] for i in probed[1][0, :length].tolist()]


def look_at(moment):
    """The picture of the sentence's weights at one moment of the training."""
    steps = sorted(seen)[moment]
    weights = seen[steps][1][0, :length]
    return figures.sequences.alignment(weights, oru, english, unseen[2][one, :length].tolist(), f"after {steps} steps")


figures.show(
    look_at(4), caption=f"Rows: words of Oru. Columns: where they looked. Frames: the truth. By {Cross.whose}."
)

# %% [markdown]
# <details><summary>What you should have seen, and why</summary>
#
# The verb looks to the middle of the English sentence, across everything in between: the frames run down the picture in
# jumps, and the weights jump with them. `ka` and `end` have no frame. They have to look somewhere, since weights sum to 1.
# And `ta`, from *the*? In some trainings its greatest weight is in the frame, in others on another word, according to
# the numbers that the training began with. More of that in a moment.
#
# </details>
#
# Move the slider through the training. At first every row is a smear. Which words are found first?

# %% tags=["demo"]
# @title Slider: the same sentence after 0, 20, 50, 100 and 300 steps
sliders.slider(look_at, start={"moment": 0}, strip=[{"moment": i} for i in range(4)], moment=(0, 4, 1))

# %% [markdown]
# One sentence is an anecdote. Count.
#
# ### Exercise 4: `alignment_error(weights, alignment)`
#
# *Difficulty ★★☆ · about 8 minutes*
#
# From the weights of one sentence, `(T, S)`, and the truth, int64 `(T,)` with −1 where a target has no source: the share
# of the targets *that have a source* whose greatest weight lies elsewhere. A tensor of no dimension in the dtype of the
# weights; 0 where no target has a source.
#
# **On paper.** Rows (0.7, 0.2, 0.1), (0.3, 0.3, 0.4), (0.1, 0.8, 0.1), (0.6, 0.1, 0.3), and the truth (0, 2, 0, −1). The
# first two look where they should, the third does not, the fourth does not count: ⅓.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(alignment_error)


# %% nbgrader={"grade": false, "grade_id": "alignment_error", "locked": false, "schema_version": 3, "solution": true, "task": false}
def alignment_error(weights: torch.Tensor, alignment: torch.Tensor) -> torch.Tensor:
    """The share of targets that look elsewhere: the greatest weight of their row is not at their source.

    weights: (T, S); alignment: int64 (T,), the source position of each target, -1 where it has none.
    Returns a tensor of no dimension, in the dtype of weights: counted over targets that have a source, 0 if none has.
    """
    ### BEGIN SOLUTION
    has_source = alignment >= 0
    if not has_source.any():
        return weights.new_zeros(())
    elsewhere = weights.argmax(dim=-1) != alignment  # (T,)
    return elsewhere[has_source].to(weights.dtype).mean()
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_alignment_error", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(alignment_error)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(alignment_error)
### END HIDDEN TESTS

# %% tags=["demo"]
error_of = use(alignment_error, torch_fallbacks.alignment_error)
errors = torch.stack([error_of(w, a) for w, a in zip(weights, unseen[2], strict=True)])
print(f"{errors.mean():.0%} of the words look elsewhere than where they come from. By {error_of.whose}.")
counts, wrong = {}, {}
for w, a, t in zip(weights, unseen[2], unseen[1], strict=True):
    for place in range(len(t)):
        word = ORU[int(t[place])]
        kind = "ta" if word == "ta" else "other words"
        if a[place] >= 0:
            counts[kind] = counts.get(kind, 0) + 1
            wrong[kind] = wrong.get(kind, 0) + int(w[place].argmax() != a[place])
for kind in counts:
    print(f"  {kind:12} {wrong[kind] / counts[kind]:.0%} of {counts[kind]}")

# %% [markdown]
# ### Predict first
#
# The translations are right, nearly all. In some trainings `ta` looks where it comes from nearly always, in others, just
# as good, nearly never: run with other random numbers, and the count above changes. How can a word be right that looked
# at the wrong place?
#
# <details><summary>Answer</summary>
#
# The memory is not the sentence. The encoder is attention, too: by the time the decoder looks, what stands at the place of
# a noun may already hold whether *the* or *a* stood before it. The model looks where the *information* is, and that need
# not be where a grammarian would point. An alignment is a hint of what a model does and no proof; lesson 11 shows how to
# prove it, by taking something away.
#
# </details>

# %% [markdown]
# ## 6. What greedy does not find
#
# With teacher forcing the model is handed the right words. When it is used there is no teacher: it reads what it has
# written itself. That is called **free running**, and a mistake is no longer a single mistake, because everything after
# it goes on from there.
#
# The plainest way of writing is **greedy**: at each step the most probable word. Encode once, decode for every word.


# %% tags=["demo"]
def step_of(model, source):
    """For one sentence (1, S): a function from a list of ids to the log-probabilities (N,) of the next."""
    mask = source == PAD
    with torch.no_grad():
        memory = model.encode(source, mask)

    def step(ids):
        with torch.no_grad():
            return model.decode(torch.tensor([ids]), memory, mask)[0, -1].log_softmax(-1)

    return step


def greedy(step, begin, end, width=1, max_length=12):
    """The most probable next token, again and again; `width` is not looked at."""
    ids = [begin]
    while ids[-1] != end and len(ids) <= max_length:
        ids.append(int(step(ids).argmax()))
    return ids


words = greedy(step_of(model, probed[0]), BEGIN, END)
print(" ".join(english), " →  ", " ".join(ORU[i] for i in words[1:-1]))

# %% [markdown]
# ### Predict first
#
# A model that was trained for 80 steps only gets nearly nine words of ten right with teacher forcing. What share of whole
# sentences will it get right in free running: about the same share, or far less?

# %% tags=["demo"]
# @title A model that is half trained: with a teacher, and without
torch.manual_seed(0)
young_decoder = Decoder(48, len(ORU))
young = Joined(Encoder(48), young_decoder)
train(young, (source, targets, source == PAD), 80)
tested = [column[:60] for column in unseen]
logits, _ = forced(young, young_decoder, *tested[:2])
said, real = logits.argmax(-1), tested[1] != PAD
right_words = ((said == tested[1]) & real).sum() / real.sum()
truths = [row[row != PAD].tolist() for row in tested[1]]
written = [greedy(step_of(young, row[row != PAD][None]), BEGIN, END) for row in tested[0]]
right_free = sum(ids[1:] == truth for ids, truth in zip(written, truths, strict=True)) / len(truths)
by_place = [
    sum(
        len(ids) > t + 1 and ids[t + 1] == truth[t]
        for ids, truth in zip(written, truths, strict=True)
        if len(truth) > t
    )
    / sum(len(truth) > t for truth in truths)
    for t in range(8)
]
with_teacher = [((said[:, t] == tested[1][:, t]) & real[:, t]).sum().item() / real[:, t].sum().item() for t in range(8)]
figures.show(
    figures.curves(
        range(1, 9),
        {"teacher forcing": with_teacher, "free running": by_place},
        names="legend",
        xlabel="place in the target",
        ylabel="share that is right",
        limits=(0, 1.05),
    ),
    alt="Two curves over the place of a word, the share of right words with a teacher and in free running. At the first "
    "place they are the same; at later places that of free running lies below.",
    caption=f"With a teacher {right_words:.0%} of the words are right. Without one, {right_free:.0%} of the sentences are.",
)

# %% [markdown]
# <details><summary>What you should have seen, and why</summary>
#
# Far less: a sentence of nine words is right only if all nine are. Up to its first mistake a model reads the same words in
# both ways, so the same sentences are right throughout. What differs is what comes after: in free running a wrong word is
# read by all that follow, and one too many or too few puts all of them at another place. A loss that was measured with
# teacher forcing says nothing of this.
#
# </details>
#
# ### More than one road
#
# Greedy has a second weakness. The likeliest first word may lead to where nothing is likely. Take four tokens and a
# `step` that looks at the last one only:
#
# | after | 0 (*begin*) | 1 | 2 | 3 (*end*) |
# |---|--:|--:|--:|--:|
# | 0 | 0.0 | **0.5** | 0.4 | 0.1 |
# | 1 | **0.3** | 0.2 | 0.25 | 0.25 |
# | 2 | 0.02 | 0.04 | 0.04 | **0.9** |
# | 3 | **0.4** | 0.3 | 0.2 | 0.1 |
#
# Greedy takes 1, since 0.5 is more than 0.4, and is lost. Whoever keeps the second best as well finds 2 and then 3, which
# has the probability 0.4 · 0.9 = 0.36.
#
# **Beam search** keeps not one sequence but the `width` best of each length. All of them are continued by every token; of
# all these continuations together the `width` most probable are kept. Those among them that end with `end` are finished,
# and are put aside; the others go on. At last the finished ones, and those that have reached `max_length`, are compared.
# Not by their probability, for every further token makes that smaller, and the shortest would always win. By the **mean
# log-probability of a token**:
#
# $$ \frac{1}{n} \sum_{t=1}^{n} \log p(y_t \mid y_0, \dots, y_{t-1}) $$
#
# where $y_0$ is `begin`, which nobody had to choose, and $n$ counts the tokens after it, `end` included.

# %% tags=["demo"]
# @title Two at a time: the sums of log-probabilities, two lengths
first = [(("begin", "1"), -0.69, "kept"), (("begin", "2"), -0.92, "kept"), (("begin", "end"), -2.30, "dropped")]
second = [
    (("begin", "1", "0"), -1.90, "kept"),
    (("begin", "1", "end"), -2.08, "dropped"),
    (("begin", "1", "2"), -2.08, "dropped"),
    (("begin", "2", "end"), -1.02, "ended"),
    (("begin", "2", "1"), -4.14, "dropped"),
]
figures.show(
    figures.sequences.tree([first, second]),
    caption="Filled: kept. Dashed, with a square: kept and ended. Pale: dropped (some of them are left out).",
)

# %% [markdown]
# ### Exercise 5: `beam_search(step, begin, end, width, max_length)`
#
# *Difficulty ★★★ · about 20 minutes*
#
# `step` maps a list of ids, `begin` first, to the log-probabilities `(N,)` of the next one. Return the best sequence, a
# list of plain ints that begins with `begin` and, if it ended, ends with `end`. It has at most `max_length` tokens after
# `begin`. At each length the `width` most probable of all continuations are kept; those of them that end take up their
# places there, and are not continued. The best mean wins, finished or cut off. With `width=1` this is greedy. A long
# sequence is less likely than any number that float32 holds, so add logarithms; leave what `step` returns as it was.
# Raise a `ValueError` that names the argument and its value unless `width` and `max_length` are at least 1.
#
# **On paper.** The table above, begin 0, end 3, at most 3 tokens. Width 1: (0, 1, 0, 1), a mean of −0.86. Width 2: the
# picture; (0, 2, 3) has ended with a sum of −1.02, a mean of −0.51, and nothing that comes later is better.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(beam_search)


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
check(beam_search)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(beam_search)
### END HIDDEN TESTS

# %% tags=["demo"]
# @title The half-trained model, one road and five
search = use(beam_search, greedy)


def mean_of(step, ids):
    """The mean log-probability of a token."""
    return sum(step(ids[:t])[ids[t]].item() for t in range(1, len(ids))) / (len(ids) - 1)


better = right_one = right_five = 0
example = ""
for row, truth in zip(tested[0], truths, strict=True):
    step = step_of(young, row[row != PAD][None])
    one_road, five = greedy(step, BEGIN, END), search(step, BEGIN, END, 5, 12)
    gain = mean_of(step, five) - mean_of(step, one_road)
    better += gain > 1e-6
    right_one, right_five = right_one + (one_road[1:] == truth), right_five + (five[1:] == truth)
    if gain > 1e-6 and not example:
        for name, ids in (("greedy", one_road), ("width 5", five)):
            example += f"  {name:8} {mean_of(step, ids):6.2f}  {' '.join(ORU[i] for i in ids[1:])}\n"
print(f"Of {len(truths)} sentences a width of 5 finds a likelier one for {better}. By {search.whose}.")
print(f"Right: {right_one} by greedy, {right_five} by width 5\n{example}")

# %% [markdown]
# (Until your function passes, greedy stands in for it, and cannot find anything likelier than itself.)
#
# *Likelier* is what the search promises, and *right* is what you want. The two agree as far as the model is right. Where
# a model is sure of its words, as ours is after 300 steps, the greedy road is nearly always the best, and a wide beam costs
# `width` times as much for nothing.

# %% [markdown]
# ## 7. A picture is a sequence, too
#
# Cross-attention never asked what the other sequence *is*. It wants `(B, S, D)`: so many positions, each a vector. A
# **vision transformer** makes a sequence of a picture in the plainest way one can think of: it cuts it into squares, calls
# the numbers of each square a vector, and lets one linear layer bring it to the width of the model. Speech is treated
# likewise: short stretches of sound, one after the other.
#
# ### Exercise 6: `patches(images, size)`
#
# *Difficulty ★★☆ · about 10 minutes*
#
# Cut pictures `(B, C, H, W)` into squares of `size` by `size` pixels, row after row of them, and give each as one row of
# numbers: `(B, H/size * W/size, C * size * size)`, in the order channel, row, column. Raise a `ValueError` that names an
# argument and # argument and its value or shape unless `size` is at least 1 and divides both sides.
#
# **On paper.** A picture of 4 by 4 with one channel holds the numbers 0 to 15. Cut into squares of 2 by 2 it becomes
# (0, 1, 4, 5), (2, 3, 6, 7), (8, 9, 12, 13), (10, 11, 14, 15). In memory 0, 1, 2, 3 come first: `reshape` alone gives
# strips, and no squares.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(patches)


# %% nbgrader={"grade": false, "grade_id": "patches", "locked": false, "schema_version": 3, "solution": true, "task": false}
def patches(images: torch.Tensor, size: int) -> torch.Tensor:
    """Pictures as sequences of squares, row after row: (B, C, H, W) -> (B, H/size * W/size, C * size * size).

    The numbers of a square are in the order channel, row, column. Raises ValueError unless `size` is at least 1
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
check(patches)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(patches)
### END HIDDEN TESTS

# %% [markdown]
# A task for it: pictures of 12 by 12 pixels with signs in three of their nine squares. The decoder is to read them out, row
# by row. The encoder is one linear layer and an embedding of places; the decoder is the class that learned Oru, with
# another vocabulary.

# %% tags=["demo"]
# @title Pictures, and a reader of pictures
SIGNS = ["", "begin", "end", "cross", "ring", "bar", "corner"]
SHAPES = torch.tensor(
    [
        [[1, 0, 0, 1], [0, 1, 1, 0], [0, 1, 1, 0], [1, 0, 0, 1]],
        [[0, 1, 1, 0], [1, 0, 0, 1], [1, 0, 0, 1], [0, 1, 1, 0]],
        [[0, 0, 0, 0], [1, 1, 1, 1], [1, 1, 1, 1], [0, 0, 0, 0]],
        [[1, 1, 1, 1], [1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]],
    ]
).float()


def pictures_of(n, generator):
    """n pictures (n, 1, 12, 12) with three signs each, and what there is to read: ids (n, 4), `end` last."""
    squares = torch.rand(n, 9, generator=generator).argsort(-1)[:, :3].sort(-1).values  # (n, 3)
    signs = torch.randint(4, (n, 3), generator=generator)
    images = 0.15 * torch.rand(n, 1, 12, 12, generator=generator)
    for picture, places, kinds in zip(images, squares.tolist(), signs.tolist(), strict=True):
        for place, kind in zip(places, kinds, strict=True):
            row, column = divmod(place, 3)
            picture[0, 4 * row : 4 * row + 4, 4 * column : 4 * column + 4] += SHAPES[kind]
    return images, torch.cat([signs + 3, torch.full((n, 1), END)], 1)


class PictureEncoder(nn.Module):
    """(B, 1, 12, 12) -> memory (B, 9, D); there is no padding in a picture."""

    def __init__(self, d_model):
        super().__init__()
        self.squares, self.places = nn.Linear(16, d_model), nn.Embedding(9, d_model)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, images, source_mask=None):
        return self.norm(self.squares(cut(images, 4)) + self.places.weight)


cut = use(patches, torch_fallbacks.patches)
torch.manual_seed(0)
reader = Decoder(48, len(SIGNS))
seeing = Joined(PictureEncoder(48), reader)
images, signs = pictures_of(2000, torch.Generator().manual_seed(3))
train(seeing, (images, signs, torch.zeros(len(images), 9, dtype=torch.bool)), 400)
images, signs = pictures_of(200, torch.Generator().manual_seed(4))
with torch.no_grad():
    logits = seeing(images, inputs_for(signs, BEGIN))
print(
    f"{(logits.argmax(-1) == signs).all(-1).float().mean():.0%} of 200 new pictures are read rightly. By {cut.whose}."
)

# %% tags=["demo"]
# @title Where the reader looks while it says each sign
shown = next(i for i, row in enumerate(signs.tolist()) if len(set(row)) == 4)  # three different signs
figures.show(
    figures.sequences.over_pictures(
        images[shown, 0], reader.weights[shown, 0, :3], [SIGNS[i] for i in signs[shown, :3].tolist()], 4
    ),
    caption=f"One new picture, and the weights of the nine squares for each of the three signs. By {Cross.whose}.",
)

# %% [markdown]
# ## 8. How it came about
#
# | year | what | what was new, and what it left behind |
# |---|---|---|
# | 2014 | [Sequence to sequence](https://arxiv.org/abs/1409.3215), Sutskever, Vinyals and Le | A recurrent network reads a sentence word by word into *one* vector; another writes the translation from that vector. Whatever does not fit into it is lost, and long sentences suffered |
# | 2014 | [Attention](https://arxiv.org/abs/1409.0473), Bahdanau, Cho and Bengio | The encoder keeps a vector *for each word*, and at every step the writer scores all of them (by a small network where we take a dot product) and takes their weighted mean. Its pictures are those of section 5 |
# | 2017 | [Attention is all you need](https://arxiv.org/abs/1706.03762), Vaswani and others | The recurrence goes. It had to take one step after another, in training too; attention does all places at once, which is what the hardware is good at. Encoder and decoder, as in this lesson |
# | 2018 | [BERT](https://arxiv.org/abs/1810.04805), Devlin and others | The encoder alone, without a causal mask: it learns to fill gaps, sees both sides of a word, and writes nothing |
# | 2018– | GPT, and [GPT-3](https://arxiv.org/abs/2005.14165), Brown and others | The decoder alone, without a source: it learns to continue. The source simply stands in front, in the same sequence |
# | 2020 | [Vision transformer](https://arxiv.org/abs/2010.11929), Dosovitskiy and others | The squares of section 7, and an encoder. Nothing in it knows what a picture is; given enough pictures it learns that |
# | 2022 | [Whisper](https://arxiv.org/abs/2212.04356), Radford and others | Sound in, text out: an encoder over stretches of sound and a decoder with cross-attention, this lesson's picture exactly |
#
# Why did the models of lesson 8 win, which have no encoder? One stack is simpler than two, every token trains it, and
# *translate: the hen sees a fox* is a text like any other. Cross-attention lives on where the second sequence is of
# another kind: sound, pictures, and in many models that draw pictures from words, where the picture asks the sentence.

# %% [markdown]
# ## 9. Is it a bug?
#
# **"The padding of the targets is not masked."** Somebody drew the attention of a translation model and saw weight on
# padded places of the *target*; its mask covers the source only
# ([joeynmt/joeynmt#151](https://github.com/joeynmt/joeynmt/issues/151)). **Decide: is it a bug?** Here is a model of ours,
# with and without three padded places behind a sentence.

# %% tags=["demo"]
short = targets[:1, : int((targets[0] != PAD).sum())]
longer = F.pad(short, (0, 3), value=PAD)
difference = (
    forced(model, decoder, source[:1], longer)[0][:, : short.shape[1]] - forced(model, decoder, source[:1], short)[0]
)
print(f"logits of real words differ by up to {difference.abs().max().item():.0e}")

# %% [markdown]
# <details><summary>Answer</summary>
#
# Not a bug, as long as padding comes last, there is a causal mask, and the loss ignores padded places. A real word never
# sees them, and what *they* see nobody asks. Leave out one of the three and it is one.
#
# </details>
#
# **"Squares are put together in another order than they were cut."** In a model that makes pictures, one function cut them
# into squares with the channel last, another put them together with the channel first. Cutting and joining did not give
# the picture back ([cloneofsimo/minRF#6](https://github.com/cloneofsimo/minRF/issues/6)). **Decide: does it learn
# nothing?** A linear layer stands before the one and behind the other.
#
# <details><summary>Answer</summary>
#
# It learns all the same, and its author said so. The numbers change places *inside* a square, always in the same way, and
# a linear layer can take up any fixed order. No pixel ever wanders into another square: that would be a bug. But as with
# the layouts of lesson 7, weights belong to one order, and a function named as another's inverse should be it.
#
# </details>

# %% [markdown]
# ## 10. Seen in the wild
#
# **Shifted twice.** A model made its decoder's inputs from the labels, shifted by one, as in exercise 2, and then used a
# loss that was made for language models, which shifts the labels once more.
#
# ```diff
# - loss = causal_lm_loss(logits, labels)                              # compares place t with label t + 1
# + loss = cross_entropy(logits.flatten(0, 1), labels.flatten())       # place t with label t
# ```
#
# From outside: no error, and a loss that falls. The model learns to say the word after the next. It was found in one model,
# then by looking for the same pattern in others
# ([huggingface/transformers#46898](https://github.com/huggingface/transformers/pull/46898),
# [#46901](https://github.com/huggingface/transformers/issues/46901); years earlier
# [#23000](https://github.com/huggingface/transformers/issues/23000)).
#
# **A mean over what nobody wrote.** Beam search divided the sum of the log-probabilities by the length of the sequence.
# The sum was that of the new tokens. The length was counted with the prompt.
#
# ```diff
# - score = sum_logprobs / len(sequence)                    # prompt and answer
# + score = sum_logprobs / (len(sequence) - prompt_length)  # the answer
# ```
#
# From outside: with a long prompt all the divisors are nearly equal, so that it is the sum that decides again, and answers
# come out too short ([huggingface/transformers#26624](https://github.com/huggingface/transformers/issues/26624),
# [vllm-project/vllm#2606](https://github.com/vllm-project/vllm/issues/2606)).
#
# **Height for width.** The number of rows of squares was computed from the width.
#
# ```diff
# - rows, columns = width // size, width // size
# + rows, columns = height // size, width // size
# ```
#
# From outside: nothing, with pictures that are square
# ([PKU-YuanGroup/Chat-UniVi#48](https://github.com/PKU-YuanGroup/Chat-UniVi/issues/48)). It is why no picture in your
# `check` is.

# %% [markdown]
# ## Summary
#
# 1. Cross-attention: queries from the sequence that is written, keys and values from the one that is read. The mask is
#    that of the source's padding.
# 2. Teacher forcing hands the decoder the right words so far, one place late, and trains all places at once. Free running
#    reads its own words, and its own mistakes.
# 3. The encoder is asked once, the decoder for every word.
# 4. The weights align two sequences without ever being told to. They show where the information was found.
# 5. Beam search keeps the `width` best of each length and compares means. And the other sequence may be anything that can
#    be cut into vectors.
#
# $$ \operatorname{cross}(\mathbf{X}, \mathbf{M}) = \operatorname{softmax}\!\left(
#    \frac{(\mathbf{X} \mathbf{W}_q)(\mathbf{M} \mathbf{W}_k)^\top}{\sqrt{d_k}} \right) \mathbf{M} \mathbf{W}_v $$
#
# **To read on:**
#
# - Bahdanau et al., [Neural Machine Translation by Jointly Learning to Align and Translate](
#   https://arxiv.org/abs/1409.0473): its alignments are the pictures of our section 5
# - Vaswani et al., [Attention Is All You Need](https://arxiv.org/abs/1706.03762), section 3
# - Dosovitskiy et al., [An Image is Worth 16x16 Words](https://arxiv.org/abs/2010.11929)

# %% [markdown]
# ## Challenge: `clipped_precision(written, reference, n)`
#
# *Challenge ★★ · not graded · about 10 minutes*
#
# A challenge is for those who want more. The same judge checks it, no grade knows of it, and you may leave it as it is.
#
# Is a translation good? In this lesson one was right or wrong, word by word. Sentences that people translate have many good
# answers, and a word too many at the beginning moves all that follow. So one asks which of the **n-grams**, sequences of $n$
# neighbours, of what was written stand in a reference, wherever that is. With one catch: a translation that says *the the the
# the* consists of nothing but good words. An n-gram therefore counts only as often as the reference has it, too.
#
# `written` and `reference` are lists of ids. Return, as a float, the share of all n-grams of `written`, repetitions included,
# that find one in the reference which no other has taken; 0.0 where `written` is shorter than `n`. Raise a `ValueError` that
# names `n` if it is below 1. Of four such numbers, for $n = 1, \dots, 4$, the measure **BLEU** is made
# ([Papineni et al. 2002](https://aclanthology.org/P02-1040/)), together with a penalty for what is too short.
#
# **On paper.** Written is (4, 4, 4, 5), the reference is (4, 5, 4). Single tokens: the reference has two 4s and one 5, so three of
# four count, 0.75. Pairs: which three were written, and which two has the reference?

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(clipped_precision)


# %%
def clipped_precision(written: list[int], reference: list[int], n: int) -> float:
    """The share of the n-grams of `written` that `reference` has, each counted at most as often as there.

    0.0 where `written` is shorter than n. ValueError if n < 1.
    """
    raise NotImplementedError  # take this line out, and write yours


# %% tags=["demo"]
check(clipped_precision)

# %% tags=["demo"]
progress()
