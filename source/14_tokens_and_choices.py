# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Lesson 14: Tokens and choices
#
# A language model never sees a letter. It reads a list of numbers and returns a list of numbers: one logit for each token that
# could come next. Other code turns the text into numbers before the model runs, and picks a token afterwards. **What does the
# model read, and who chooses what it says?**
#
# **You will build** a tokenizer that learns its pieces from a text, and can encode and decode any text at all. Then you build
# the rules by which the next token is chosen: top-p, min-p, a penalty for repetition, a mask for a grammar, and speculative
# decoding, whose output distribution you compute exactly.
#
# **You need** softmax and temperature (lesson 2) and training (lesson 8). From lesson 9 it helps to know why one call with
# many tokens is cheaper than many calls.
#
# **Time:**

# %%
import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from course import begin, check, figures, hint, predict, progress, small_lm, solution
from course.sample_models import LinkedIds
from torch import nn

begin("14_tokens_and_choices")

# %% tags=["picture"]
# @title The attention between the two halves of this lesson
figures.show(figures.overview("tiles", complete=True))

# %% [markdown]
# This lesson adds nothing to the diagram. It is about what enters $\mathbf{X}$ on the left, and about what happens to the logits
# that a model computes from the output on the right. In shapes, `B` is the batch, `T` the number of tokens of a prompt, `M` the
# number of tokens after it, and `N` the size of the vocabulary. $\tau$ is the temperature.

# %% [markdown]
# ## Quiz: what came before
#
# **1.** All logits of a row are divided by a temperature of 2. Which tokens become more probable?
#
# **2.** A model gives the right next token the probability $\tfrac14$. What is its loss there, in bits?
#
# **3.** A call with five new tokens takes a large model hardly longer than a call with one. Why?

# %%
predict("quiz 1", ...)  # "the improbable ones", "the likeliest one" or "all of them"
predict("quiz 2", ...)  # a number
predict("quiz 3", ...)  # "the parameters are read once", "five tokens need no cache" or "attention is skipped"

# %% [markdown]
# ## 1. Where to cut
#
# As in lesson 3, a token is a piece of text that has a number, its id, and the vocabulary is the list of all tokens. In lessons 8
# and 9 a token was a word or a punctuation mark. This makes short lists, but a word that is not in the vocabulary has no id:

# %% tags=["code"]
lm = small_lm.load()
try:
    lm.encode("The boat reached the fjord.")
except ValueError as error:
    print("ValueError:", error)

# %% [markdown]
# At the other extreme are bytes. **UTF-8** is the usual way to store text: it turns each character into one to four bytes, which
# are numbers from 0 to 255. Letters without accents take one byte. Most accented letters, Greek and Cyrillic take two, Chinese
# and Hindi three, and most emoji four. With 256 tokens, one per byte, every text has ids.
#
# ### Predict: bytes of six characters
#
# How many bytes does the text `naïve🙂` have?

# %%
# The number of bytes of "naïve🙂"
predict("bytes of six characters", ...)

# %% tags=["code"]
for character in "naïve🙂":
    print(character, list(character.encode("utf-8")))

# %% [markdown]
# But byte by byte, a text becomes a long list. Attention compares all pairs of tokens, and a model writes one token at a time, so
# long lists cost time. Tokenizers take a middle way: frequent runs of bytes get an id of their own, and everything else stays
# as single bytes.

# %% tags=["picture"]
# @title A sentence in words, in pieces and in bytes
SENTENCE = "The boat reached the bank."
figures.show(figures.tokens.three_cuts())

# %% [markdown]
# ## 2. Learn the pieces
#
# Which runs deserve an id? **Byte-pair encoding** (BPE) learns them from a text. Begin with the bytes. Find the pair of
# neighbouring tokens that occurs most often, give it the next free id, and replace it wherever it occurs. Repeat. The ids 0 to
# 255 are the bytes; **merge** $m$, counted from 0, makes the id $256 + m$ out of two earlier ids.
#
# The idea is from data compression; [Sennrich et al. 2016](https://arxiv.org/abs/1508.07909) used it for
# translation, and GPT-2 (2019) applied it to bytes.
#
# ### Predict: the first merge
#
# Which pair is joined first in the text `hug pug hugs mug`?

# %%
# The pair: "hu", "ug" or "g " (with a space)
predict("the first merge", ...)

# %% [markdown]
# ### Exercise: count the pairs
#
# *Difficulty ★☆☆, importance ●●○, about 2 minutes.* Return a dictionary from each pair of neighbours in a list of ids
# to the number of times it occurs. Overlapping pairs count.
#
# **Worked example.** The ids 7, 7, 7, 5 have the pair (7, 7) twice and (7, 5) once.


# %%
def count_pairs(ids: list[int]) -> dict[tuple[int, int], int]:
    """How often each pair of ids are neighbours in a list of ids; overlapping pairs count too."""
    raise NotImplementedError  # replace this line


# %%
check(count_pairs)  # NameError? Run the notebook's first cell

# %% tags=["code"]
some = list(b"hug pug hugs mug")
for pair, often in sorted(count_pairs(some).items(), key=lambda item: -item[1])[:3]:
    print(bytes(pair), pair, often)

# %% [markdown]
# ### Exercise: join a pair
#
# *Difficulty ★★☆, importance ●●○, about 4 minutes.* Return a new list in which `pair` is replaced by the id `new`
# wherever it occurs. Go from left to right, and leave `ids` as it was.
#
# **Worked example.** In 7, 7, 7, 5 the pair (7, 7) is replaced by 256: the result is 256, 7, 5. The second and third 7 are a
# pair as well, but the second is already used.


# %%
def join_pair(ids: list[int], pair: tuple[int, int], new: int) -> list[int]:
    """A new list in which `pair` is replaced by the id `new` wherever it occurs, from left to right."""
    raise NotImplementedError  # replace this line


# %%
check(join_pair)

# %% [markdown]
# ### Exercise: `train_bpe(text, n_merges)`
#
# *Difficulty ★★☆, importance ●●●, about 12 minutes.*
#
# Return the list of merges, each a pair of ids.
#
# - Begin with the UTF-8 bytes of `text`. In each round join the pair that occurs most often, everywhere, from left to right.
# - **Ties.** Of pairs that occur equally often take the smallest, as Python compares tuples. Without such a rule, two programs
#   learn different tokens from the same text.
# - End early when no pair occurs twice. If `n_merges` is below 0, raise a `ValueError` that names it and its value.
#
# You may call your `count_pairs` and `join_pair`; a mistake in them costs no points here. You may not use a package
# that tokenizes.
#
# **Worked example.** `train_bpe("abababc", 5)`: the bytes are 97, 98, 97, 98, 97, 98, 99. The pair (97, 98) occurs three times
# and becomes 256: now 256, 256, 256, 99. The pair (256, 256) occurs twice, since overlapping pairs count, and becomes 257: now
# 257, 256, 99. No pair occurs twice, so the result is `[(97, 98), (256, 256)]`.


# %% nbgrader={"grade": false, "grade_id": "train_bpe", "locked": false, "schema_version": 3, "solution": true, "task": false}
def train_bpe(text: str, n_merges: int) -> list[tuple[int, int]]:
    """Learn merges from the UTF-8 bytes of a text: at most n_merges pairs of ids; merge m makes the id 256 + m.

    The most frequent pair of neighbours is joined everywhere, from left to right; of equally frequent pairs the smallest,
    as Python compares tuples. Overlapping occurrences count: aaa has the pair a a twice. Ends early when no pair occurs
    twice. Raises ValueError if n_merges < 0.
    """
    ### BEGIN SOLUTION
    if n_merges < 0:
        raise ValueError(f"n_merges is {n_merges}, and must be at least 0")
    ids, merges = list(text.encode("utf-8")), []
    for m in range(n_merges):
        counts = {}
        for pair in zip(ids, ids[1:]):
            counts[pair] = counts.get(pair, 0) + 1
        best = min(counts, key=lambda pair: (-counts[pair], pair), default=None)
        if best is None or counts[best] < 2:
            break
        merges.append(best)
        joined, i = [], 0
        while i < len(ids):
            found = tuple(ids[i : i + 2]) == best
            joined.append(256 + m if found else ids[i])
            i += 2 if found else 1
        ids = joined
    return merges
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_train_bpe", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(train_bpe)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(train_bpe)
### END HIDDEN TESTS

# %% [markdown]
# Now train a tokenizer on stories of the river town, the text of lesson 8: 256 merges, from about 20,000 bytes.

# %% tags=["code"]
from course.models.river_town import generate_stories

stories = generate_stories(60_000, seed=1)  # the beginning of the text that the small model was trained on
merges = train_bpe(stories[:20_000], 256)
pieces = [bytes((i,)) for i in range(256)]
for left, right in merges:
    pieces += [pieces[left] + pieces[right]]
print("the first ten:", [piece.decode() for piece in pieces[256:266]])

# %% [markdown]
# ### Predict: across words
#
# Does any of the 256 learned pieces contain a whole word together with a part of another word?

# %%
# Such a piece: "exists" or "does not exist"
predict("across words", ...)

# %% tags=["code"]
inside = [piece.decode() for piece in pieces[256:] if b" " in piece.strip(b" ")]
print("pieces with a space inside:", inside)

# %% [markdown]
# BPE knows nothing about words: in these stories, `," said the ` is simply frequent. Most tokenizers of published models first
# cut the text with a fixed rule, usually in front of each space, and merge only between the cuts. Then no token spans two words,
# and each distinct word has to be encoded only once. This also explains why so many tokens of GPT models *begin* with a space,
# while many of yours end with one.

# %% tags=["picture"]
# @title The same words after more and more merges
rows = {f"{n} merges": [pieces[i] for i in encode(SENTENCE, merges[:n])] for n in (0, 16, 64, 256)}
drawn, text = figures.tokens.cuts(rows), "Each box of a row is made of boxes of the row above."
figures.show(drawn, caption=text)

# %% [markdown]
# ## 3. From text to ids and back
#
# The merges are learned once. To encode a new text, you *apply* them in the order in which they were learned. Which pairs are
# frequent in the new text does not matter.
#
# ### Exercise: `encode(text, merges)`
#
# *Difficulty ★★☆, importance ●●●, about 10 minutes.*
#
# Return the ids of `text`. Begin with its bytes. As long as any learned pair occurs, take the one of them that was learned
# first, and join it everywhere, from left to right.
#
# **Worked example.** The merges are `[(98, 99), (97, 98)]`, so `bc` is 256 and `ab` is 257. The text `abc` has both pairs. `bc`
# was learned first, so the result is 97, 256, and not 257, 99. Which pair comes first in the text does not matter.


# %% nbgrader={"grade": false, "grade_id": "encode", "locked": false, "schema_version": 3, "solution": true, "task": false}
def encode(text: str, merges: list[tuple[int, int]]) -> list[int]:
    """The ids of any text: from its UTF-8 bytes, the pair that was learned first is joined, until no learned pair occurs.

    It is joined everywhere, from left to right. merges: pairs of ids in the order in which they were learned; merge m makes the id 256 + m.
    """
    ### BEGIN SOLUTION
    ids = list(text.encode("utf-8"))
    learned = {tuple(pair): 256 + m for m, pair in enumerate(merges)}
    while True:
        news = [learned[pair] for pair in zip(ids, ids[1:]) if pair in learned]
        if not news:
            return ids
        new, joined = min(news), []
        for i in ids:
            if joined and learned.get((joined[-1], i)) == new:
                joined[-1] = new
            else:
                joined.append(i)
        ids = joined
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_encode", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(encode)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(encode)
### END HIDDEN TESTS

# %% [markdown]
# ### Exercise: `decode(ids, merges)`
#
# *Difficulty ★☆☆, importance ●●○, about 6 minutes.*
#
# Return the text of a list or tensor of ids: put the bytes of all pieces together, *then* read them as UTF-8. A model may
# produce any ids, so the bytes may not be valid UTF-8; `bytes.decode("utf-8", errors="replace")` then
# inserts `�`. For an id that does not exist, raise a `ValueError` that names `ids` or the id.
#
# **Worked example.** With the merge (195, 182) the ids 71, 256 are the bytes `G`, 195, 182: the text `Gö`. The id 195 alone is
# half a character, and decodes to `�`. Decoding piece by piece would turn 71, 195, 182 into `G��`.


# %% nbgrader={"grade": false, "grade_id": "decode", "locked": false, "schema_version": 3, "solution": true, "task": false}
def decode(ids: list[int] | torch.Tensor, merges: list[tuple[int, int]]) -> str:
    """The text of a list or an integer tensor (T,) of ids; bytes that are not UTF-8 become U+FFFD (errors="replace").

    decode(encode(text, merges), merges) is the text again. Raises ValueError for an id that does not exist.
    """
    ### BEGIN SOLUTION
    pieces = [bytes([i]) for i in range(256)]
    for left, right in merges:
        pieces.append(pieces[left] + pieces[right])
    found = b""
    for i in ids:
        if not 0 <= int(i) < len(pieces):
            raise ValueError(f"ids has the id {int(i)}; ids are 0 to {len(pieces) - 1}")
        found += pieces[int(i)]
    return found.decode("utf-8", errors="replace")
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_decode", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(decode)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(decode)
### END HIDDEN TESTS

# %% [markdown]
# ### Predict: a text never seen
#
# The tokenizer has only seen English stories. What does it make of `Größe: 42 m²`?

# %%
# The text becomes: "an error", "an id for unknown text" or "ids of single bytes and short pieces"
predict("a text never seen", ...)

# %% tags=["code"]
for text in ("Größe: 42 m²", "水 नमस्ते 🙂", "", "tab\tand\r\nlines"):
    ids = encode(text, merges)
    assert decode(ids, merges) == text
    print(f"{text!r}: {len(ids)} ids, decoded to the same text")

# %% [markdown]
# This is the advantage of bytes: **every text has ids, and decoding them returns the same text**. The reverse does not hold.
# Different lists of ids can decode to the same text, because `t`, `h` and `e` are tokens as well. `encode` returns one of these
# lists, and a model learns only from that one.

# %% [markdown]
# ## 4. Why tokenizers surprise
#
# The model sees ids, and nothing of how the tokens are spelt. Some of what looks strange about language models begins here.
#
# ### Numbers
#
# ### Predict: two years
#
# A tokenizer is trained on the years 1980 to 2029, written one after the other with spaces between them. It may learn up to 60
# merges. It cuts `2024` into `20`, `2` and `4`. Into how many tokens does it cut `2147`?

# %%
years = " ".join(str(year) for year in range(1980, 2030))
year_merges = train_bpe(years, 60)
# The number of tokens of "2147"
predict("tokens of a year", ...)

# %% tags=["code"]
year_pieces = [bytes([i]) for i in range(256)]
for left, right in year_merges:
    year_pieces.append(year_pieces[left] + year_pieces[right])
for number in ("2024", "1999", "2147", "20240"):
    print(number, [year_pieces[i].decode() for i in encode(number, year_merges)])

# %% [markdown]
# Numbers that are frequent in the tokenizer's training text become few tokens; how others are cut is an accident. Digit-by-digit
# addition is harder for a model that gets `20`, `2` and `4` for one number and `2`, `1`, `4` and `7` for the next. So newer
# tokenizers fix the cut. Llama 2 makes every digit a token of its own ([report](https://arxiv.org/abs/2307.09288), 2023), and
# GPT-4's rule allows at most three digits per token.
#
# ### Spaces
#
# ### Predict: two halves
#
# Is `encode(a + b)` always the list `encode(a)` followed by `encode(b)`?

# %%
# The two lists are: "always equal" or "not always equal"
predict("two halves", ...)

# %% tags=["code"]
show = {"the boat": encode("the boat", merges), "the + boat": encode("the", merges) + encode(" boat", merges)}
for name, ids in show.items():
    print(f"{name:12} {ids} {[pieces[i].decode() for i in ids]}")

# %% [markdown]
# A merge can join the end of one part with the beginning of the next. So a prompt that ends in the middle of a token gives the
# model a list of ids that it has hardly ever seen in training. For example, if `the ` with its space is one token, the pieces of
# `the` are almost never followed by a separate space. For GPT models, whose tokens often begin with a space, the trap is a prompt
# that *ends* with a space. The usual advice is to strip it; some libraries remove the prompt's last token and let the model choose
# it again, which is called *token healing*.
#
# ### Other scripts
#
# ### Predict: the same sentence in Hindi
#
# "The boat is at the river." has 25 characters and becomes 8 ids. "नाव नदी पर है।" says the same in 14 characters, which are 36
# bytes. How many ids does your tokenizer make of it?

# %%
# The number of ids
predict("the same sentence in Hindi", ...)

# %% tags=["code"]
for text in (
    "The boat is at the river.",
    "Das Boot liegt am Fluss.",
    "Το πλοίο είναι στο ποτάμι.",
    "नाव नदी पर है।",
    "船在河边。",
):
    print(f"{len(text):3} characters {len(text.encode()):3} bytes {len(encode(text, merges)):3} ids  {text}")

# %% [markdown]
# For the same meaning, readers of some languages pay several times as much, wait several times as long, and fit less into the
# context. In some published tokenizers, [Petrov et al. 2023](https://arxiv.org/abs/2305.15425) find differences of up to 15 times
# between languages. One cause is UTF-8, which takes more bytes for some scripts. The larger one here is the text that the
# tokenizer was trained on: it contained no Hindi, so no merge joins Hindi bytes.
#
# ### A token that was never trained (extra)
#
# A tokenizer and its model may be trained on different texts. In 2023 Rumbelow and Watkins described tokens of GPT-2 and GPT-3
# such as ` SolidGoldMagikarp`, a user name from a forum ([on their
# origin](https://www.greaterwrong.com/posts/8viQEp8KBg2QSW4Yc/solidgoldmagikarp-iii-glitch-token-archaeology), February 2023).
# Asked to repeat such a token, the models often said something else. The likely reason is that the string was frequent in the
# tokenizer's text and nearly absent from the model's. A **glitch token** is a token that a model has hardly ever seen in training.
# In your tokenizer, the bytes above 127 are such tokens: the stories contain none of them.
#
# ### Predict: the vector of an absent token (extra)
#
# In the small model, the logits are dot products with the rows of the embedding table, the same table that turns ids into
# vectors. Token 200 never occurs in the training text. What happens to its row?

# %%
# The row of token 200: "stays as it was", "moves like the rows of all absent tokens" or "moves at random"
predict("the vector of an absent token", ...)

# %% [markdown]
# Section 5 measures it in a trained model.

# %% [markdown]
# ## 5. Your model reads your tokens
#
# Which tokens are best for a model? Cut the stories in three ways, and *count* which token follows which, as the bigram baseline
# of lesson 8 does. No gradient steps are needed. To save time, all three read only about half of the stories.


# %% tags=["code"]
def ids_of(text, merges):
    """The ids of a text, int64 (T,), line by line, so that no token spans two stories."""
    return torch.tensor([i for line in text.splitlines(keepends=True) for i in encode(line, merges)])


def counted(ids, N):
    """The probabilities (N, N) of what follows each token, counted in a text (T,)."""
    counts = torch.full((N, N), 0.05)  # a small number keeps unseen pairs possible
    counts.index_put_((ids[:-1], ids[1:]), torch.ones(len(ids) - 1), accumulate=True)
    return counts / counts.sum(dim=-1, keepdim=True)


text, held_out = stories[: stories.rindex("\n", 0, 150_000)], small_lm.held_out(3000)  # whole stories
n_bytes = len(held_out.encode())
texts = {  # name: (size of the vocabulary, ids to train on, held-out ids)
    "bytes": (256, torch.tensor(list(text.encode())), torch.tensor(list(held_out.encode()))),
    "your tokens": (256 + len(merges), ids_of(text, merges), ids_of(held_out, merges)),
    "words": (len(lm.words), lm.encode(text), lm.encode(held_out)),
}
nats = {}
for name, (N, ids, unseen) in texts.items():
    nats[name] = -counted(ids, N)[unseen[:-1], unseen[1:]].log().mean().item()
for name in ("bytes", "your tokens"):
    print(f"{name:12} bigram loss {nats[name]:.2f} nats per token")

# %% [markdown]
# ### Predict: the better tokens
#
# With bytes, the loss of the bigram model is 2.2 nats per token; with your tokens it is 3.2. Which of the two predicts the
# held-out stories better?

# %%
# The better one: "bytes" or "your tokens"
predict("the better tokens", ...)

# %% [markdown]
# ### Exercise: bits per byte
#
# *Difficulty ★☆☆, importance ●○○, about 2 minutes.* A loss per token depends on how large the tokens are. So does the
# **perplexity**, $e^\mathcal{L}$ (lesson 8). To compare, spread the loss of the whole text over something that does not
# depend on the tokens: its bytes. Return **bits per byte**; a bit is $\ln 2$ nats.
#
# **Worked example.** A text of 8 bytes is 4 tokens, and each costs $2 \ln 2 = 1.386$ nats, which is 2 bits. So the text costs 8
# bits: 1 bit per byte.


# %%
def bits_per_byte(nats_per_token: float, n_tokens: int, n_bytes: int) -> float:
    """Bits per byte of a text of n_bytes bytes, cut into n_tokens tokens with a mean loss of nats_per_token."""
    raise NotImplementedError  # replace this line


# %%
check(bits_per_byte)

# %% tags=["code"]
for name, (_, _, unseen) in texts.items():
    bits = bits_per_byte(nats[name], len(unseen), n_bytes)
    size, perplexity = n_bytes / len(unseen), math.exp(nats[name])
    print(f"{name:12} {size:4.1f} bytes per token, perplexity {perplexity:5.1f}, {bits:.2f} bits per byte")

# %% [markdown]
# A compressor that uses these probabilities would need about that many bits for each byte of text; uncompressed, a byte has 8. A
# longer token is harder to predict, but there are fewer of them. Words look best here, with two reservations: the word tokenizer
# does not store capitals and spaces, and it cannot read a text with other words.
#
# ### Train it
#
# Now train the small language model of lesson 8 on each cut: three blocks, width 96, 200 steps of 16 windows of 64 tokens. So the
# three runs do nearly the same amount of work. Together they take about a minute.


# %% tags=["model"]
# Takes about 60 seconds
def train_on(ids, N, steps=200, batch_size=16, T=64, peak=4e-3):
    """The small model before training, and after training on ids (L,)."""
    model = small_lm.untrained([str(i) for i in range(N)], seed=0)
    start = model.tokens.weight.detach().clone()
    optimizer = torch.optim.AdamW(model.parameters(), lr=peak)
    generator = torch.Generator().manual_seed(0)
    for step in range(steps):
        rate = min(10 * (step + 1) / steps, 0.5 + 0.5 * math.cos(math.pi * max(0.0, (step / steps - 0.1) / 0.9)))
        for group in optimizer.param_groups:
            group["lr"] = peak * rate
        windows = ids[torch.randint(len(ids) - T, (batch_size, 1), generator=generator) + torch.arange(T + 1)]
        loss = F.cross_entropy(model(windows[:, :-1]).flatten(0, 1), windows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.requires_grad_(False).eval(), start


trained = {name: train_on(ids, N) for name, (N, ids, _) in texts.items()}

# %% tags=["picture"]
print(
    "              N   parameters  bytes per token  nats per token  perplexity  bits per byte  (bigram)  context in bytes"
)
for name, (N, _, unseen) in texts.items():
    model, length = trained[name][0], len(unseen) // 64 * 64
    windows = unseen[:length].view(-1, 64)
    loss = model.losses(windows).mean().item()
    size, parameters = n_bytes / len(unseen), sum(p.numel() for p in model.parameters())
    print(
        f"{name:11} {N:4} {parameters:12,} {size:16.1f} {loss:15.2f} {math.exp(loss):11.1f} "
        f"{bits_per_byte(loss, len(unseen), n_bytes):14.2f} {bits_per_byte(nats[name], len(unseen), n_bytes):9.2f} {64 * size:17.0f}"
    )

# %% [markdown]
# What changes from row to row? The embedding table grows with $N$. Compared with 64 bytes, 64 of your tokens cover about 2.5 times
# as much text, and 64 words about four times. So attention looks back further, and each step of training shows the model more of
# the stories. Between bytes and your tokens, the loss per token and the bits per byte disagree about which is better. With little
# training, it helps that the tokenizer already knows which bytes belong together; a model that is trained for longer can learn
# that itself.

# %% tags=["picture"]
own_lm, at_first = trained["your tokens"]
ids = ids_of("The boat ", merges)
generator = torch.Generator().manual_seed(3)
for _ in range(60):
    ids = torch.cat([ids, torch.multinomial((own_lm(ids[-96:])[-1] / 0.7).softmax(-1), 1, generator=generator)])
print(decode(ids, merges))

# %% [markdown]
# The model writes pieces of words, and has learned something about which pieces form words. And the absent tokens? Compare how the
# rows of the embedding table have moved in training.

# %% tags=["picture"]
moved = F.normalize(own_lm.tokens.weight - at_first, dim=-1)  # (N, D)
present = torch.bincount(texts["your tokens"][1], minlength=len(moved)) > 20
absent = torch.bincount(texts["your tokens"][1], minlength=len(moved)) == 0
for name, group in {"absent": absent, "present": present}.items():
    cosines = moved[group] @ moved[group].mT
    n = len(cosines)
    print(f"{n} tokens that are {name}: mean cosine similarity of two moves {(cosines.sum() - n) / (n * (n - 1)):.2f}")

# %% [markdown]
# The row of an absent token never enters the model as an input. But as an output, it is a wrong answer at every position, and
# gradient descent pushes it away from every hidden state, the vector that it is multiplied with. All absent tokens get nearly the
# same push, so their rows move in nearly the same direction. And the model has never learned what to do when it reads one.

# %% [markdown]
# %%answer what_a_tokenizer_decides

# %% [markdown]
# ## 6. Which tokens may be drawn
#
# The model ends with the logits. Whoever runs it decides what to do with them. **Greedy decoding** takes the most probable token
# each time; its texts tend to repeat themselves. Drawing from the whole softmax goes wrong in another way: each of thousands of
# improbable tokens is rare, but together they come up often, and one of them can spoil a text.
#
# A low temperature (lesson 2) reduces their share, but also the variety. The other rules cut off this *tail*: they set the
# probabilities of improbable tokens to 0 and rescale the others.
#
# The simplest rule, **top-k**, keeps the $k$ most probable tokens.
#
# ### Exercise: keep the k most probable tokens
#
# *Difficulty ★☆☆, importance ●○○, about 3 minutes.* `logits` is `(..., N)`, and no two logits in a row are equal.
# Return the probabilities when only the `k` most probable tokens of each row are kept; if `k` is larger than `N`, keep
# all.
#
# **Worked example.** The logits $(\ln 1, \ln 4, \ln 2, \ln 3)$ and $k = 2$: the exponentials 4 and 3 are left, so the probabilities
# are $(0, \tfrac47, 0, \tfrac37)$.


# %%
def top_k_probabilities(logits: torch.Tensor, k: int) -> torch.Tensor:
    """Logits (..., N) -> probabilities (..., N) among the k most probable tokens, or all if k > N; no logits are equal."""
    raise NotImplementedError  # replace this line


# %%
check(top_k_probabilities)

# %% [markdown]
# The same $k$ is too large where the model is sure, and too small where many tokens are possible. **Top-p**, also called *nucleus
# sampling* ([Holtzman et al. 2019](https://arxiv.org/abs/1904.09751)), adapts: it keeps the smallest set of most probable tokens
# whose probabilities sum to at least $p$. So it also keeps the token with which the sum reaches $p$.
#
# ### Exercise: `top_p(logits, p)`
#
# *Difficulty ★★☆, importance ●●○, about 8 minutes.*
#
# Return the probabilities `(..., N)`. At least one token is kept in each row, and $p = 1$ keeps every token, even if a rounded sum
# reaches 1 early. Raise a `ValueError` that names `p` and its value unless $0 < p \le 1$.
#
# **Worked example.** The probabilities are $(0.12, 0.5, 0.3, 0.08)$ and $p = 0.7$. The most probable token has 0.5, which is not
# enough; with the second, the sum is 0.8. So the result is $(0, \tfrac58, \tfrac38, 0)$.


# %% nbgrader={"grade": false, "grade_id": "top_p", "locked": false, "schema_version": 3, "solution": true, "task": false}
def top_p(logits: torch.Tensor, p: float) -> torch.Tensor:
    """Probabilities (..., N) among the smallest set of most probable tokens with a sum of at least p; others exactly 0.

    logits: (..., N). p = 1 keeps every token that has a probability. Raises ValueError unless 0 < p <= 1.
    """
    ### BEGIN SOLUTION
    if not 0 < p <= 1:
        raise ValueError(f"p is {p}, and must be above 0 and at most 1")
    if p == 1:
        return torch.softmax(logits, dim=-1)
    ordered, order = torch.softmax(logits, dim=-1).sort(dim=-1, descending=True)
    before = ordered.cumsum(dim=-1) - ordered  # the sum of all that are more probable
    dropped = torch.zeros_like(before >= p).scatter(-1, order, before >= p)
    return torch.softmax(logits.masked_fill(dropped, float("-inf")), dim=-1)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_top_p", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(top_p)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(top_p)
### END HIDDEN TESTS

# %% [markdown]
# **Min-p** ([Nguyen et al. 2024](https://arxiv.org/abs/2407.01082)) uses a simpler rule: a token is kept if it has at least
# $p$ times the probability of the most probable one. Finding these tokens needs no sorting and no running sum.
#
# ### Exercise: `min_p(logits, p)`
#
# *Difficulty ★☆☆, importance ●●○, about 4 minutes.*
#
# Return the probabilities `(..., N)`. Raise a `ValueError` that names `p` and its value unless $0 \le p \le 1$.
#
# **Worked example.** The probabilities are $(0.1, 0.5, 0.3, 0.1)$ and $p = 0.5$. The threshold is $0.25$, so $0.5$ and $0.3$ are
# kept: $(0, \tfrac58, \tfrac38, 0)$. With $p = 0.2$ the threshold is 0.1, and all four are kept.


# %% nbgrader={"grade": false, "grade_id": "min_p", "locked": false, "schema_version": 3, "solution": true, "task": false}
def min_p(logits: torch.Tensor, p: float) -> torch.Tensor:
    """Probabilities (..., N) among the tokens with at least p times the probability of the most probable; others exactly 0.

    logits: (..., N). Raises ValueError unless 0 <= p <= 1.
    """
    ### BEGIN SOLUTION
    if not 0 <= p <= 1:
        raise ValueError(f"p is {p}, and must be from 0 to 1")
    probabilities = torch.softmax(logits, dim=-1)
    dropped = probabilities < p * probabilities.amax(dim=-1, keepdim=True)
    return torch.softmax(logits.masked_fill(dropped, float("-inf")), dim=-1)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_min_p", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check(min_p)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(min_p)
### END HIDDEN TESTS

# %% [markdown]
# ### Predict: at a high temperature
#
# After "The boat reached the river", the course's small model, at temperature 1, gives nearly all the probability to seven
# tokens. With $\tau = 2$, how many of its 1,001 tokens does top-p with $p = 0.9$ keep?

# %%
# Tokens kept: "about 7", "about 20" or "more than 100"
predict("at a high temperature", ...)

# %% tags=["code"]
logits = lm.next_scores("The boat reached the river")  # (N,)
for tau in (0.5, 1.0, 2.0):
    kept = [int((rule(logits / tau, p) > 0).sum()) for rule, p in ((top_p, 0.9), (min_p, 0.1))]
    print(f"temperature {tau}: top-p 0.9 keeps {kept[0]:3} tokens, min-p 0.1 keeps {kept[1]}")

# %% [markdown]
# A high temperature makes the tail heavier: 994 tokens get a little each, and together too much for top-p to ignore. Min-p looks
# only at the ratio to the most probable token, and its authors recommend it for high temperatures. Whether the texts are better is
# another question: [Schaeffer et al. 2025](https://arxiv.org/abs/2506.13681) examined the evidence again, and found no advantage
# in quality or diversity over the older rules.

# %% tags=["picture"]
# @title The next token under six rules
drawn = figures.tokens.six_rules(logits, lm.words, top_k_probabilities, top_p, min_p)
figures.show(drawn)

# %% [markdown]
# ## 7. Against repetition
#
# A model that has written a phrase twice often gives a third time a high probability: induction heads copy what came before
# (lesson 8). The **repetition penalty** is meant to make all tokens that have already occurred less probable.
#
# ### Predict: division by the penalty
#
# A first version divides the logit of each token that has occurred by 1.5. One such token has the logit $-3$; nothing else
# changes. What does the division do to its probability?

# %%
# The probability: "falls", "rises" or "stays"
predict("division by the penalty", ...)

# %% tags=["code"]
two = torch.tensor([1.0, -3.0])
for name, changed in {"before": two, "divided": torch.tensor([1.0, -3.0 / 1.5])}.items():
    print(f"{name:8} {changed.softmax(-1)[1]:.3f}")

# %% [markdown]
# ### Exercise: `penalize_repeats(logits, ids, penalty)`
#
# *Difficulty ★☆☆, importance ●●○, about 5 minutes.*
#
# `logits` is `(N,)`; `ids`, int64 `(T,)`, holds all tokens so far, possibly none. Return new logits: those of tokens in `ids` are
# divided by `penalty` if they are positive, else multiplied by it. A token that occurs five times is penalized once. Raise a
# `ValueError` that names `penalty` and its value unless it is above 0. This is the form that libraries use; [Keskar et al.
# 2019](https://arxiv.org/abs/1909.05858), who proposed the penalty, only divide.
#
# **Worked example.** Logits $(2, -1, 3)$, ids 0, 1, 1, penalty 2: the result is $(1, -2, 3)$.


# %% nbgrader={"grade": false, "grade_id": "penalize_repeats", "locked": false, "schema_version": 3, "solution": true, "task": false}
def penalize_repeats(logits: torch.Tensor, ids: torch.Tensor, penalty: float) -> torch.Tensor:
    """Logits (N,) in which each token that occurs in ids, int64 (T,), is divided by penalty if positive, else multiplied.

    Once for each token, however often it occurs; T may be 0. Raises ValueError unless penalty > 0.
    """
    ### BEGIN SOLUTION
    if not penalty > 0:
        raise ValueError(f"penalty is {penalty}, and must be above 0")
    seen = torch.zeros_like(logits, dtype=torch.bool)
    seen[ids] = True
    penalized = torch.where(logits > 0, logits / penalty, logits * penalty)
    return torch.where(seen, penalized, logits)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_penalize_repeats", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check(penalize_repeats)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(penalize_repeats)
### END HIDDEN TESTS

# %% tags=["code"]
for penalty in (1.0, 1.2, 3.0):
    ids = lm.encode("The boat reached the river bank.")
    with torch.no_grad():
        for _ in range(60):
            ids = torch.cat([ids, penalize_repeats(lm(ids)[-1], ids, penalty).argmax()[None]])
    print(f"penalty {penalty}: {len(set(ids.tolist()))} different tokens of {len(ids)}\n{lm.decode(ids)}\n")

# %% [markdown]
# A mild penalty helps. But the rule does not know why a token comes back: "the" and the full stop *must* be repeated, and with a
# penalty of 3 the text falls apart once all common words are penalized. The result also depends on where 0 is: adding 10 to all
# logits changes no probability, but it changes what the penalty does.

# %% [markdown]
# ## 8. How probable is an answer
#
# So far you chose one token at a time. To compare whole answers, as multiple-choice benchmarks do, multiply the probabilities of
# their tokens, each given all tokens before it. The logarithm of the product is a sum, which does not underflow:
#
# $$ \ln P(\text{continuation} \mid \text{prompt}) = \sum_{i=0}^{M-1} \ln p(y_i \mid x_0, \dots, x_{T-1}, y_0, \dots, y_{i-1}) $$
#
# Here $x_0, \dots, x_{T-1}$ are the tokens of the prompt and $y_0, \dots, y_{M-1}$ those of the continuation. One call of the
# model returns all the logits that you need.
#
# ### Exercise: `continuation_log_probability(model, prompt, continuation)`
#
# *Difficulty ★★☆, importance ●●○, about 8 minutes.*
#
# Return the sum, `()`. `model` maps ids `(B, T)` to logits `(B, T, N)`; call it once. Note which row predicts which token.
#
# **Worked example.** The prompt has two tokens, the continuation one. The model reads two tokens or three, and the logits at
# position 1 predict the token at position 2. If their softmax gives it $\tfrac14$, the result is $-\ln 4 = -1.386$.


# %% nbgrader={"grade": false, "grade_id": "continuation_log_probability", "locked": false, "schema_version": 3, "solution": true, "task": false}
def continuation_log_probability(
    model: Callable[[torch.Tensor], torch.Tensor], prompt: torch.Tensor, continuation: torch.Tensor
) -> torch.Tensor:
    """The log-probability of a continuation, however improbable, after a prompt, in nats: ().

    prompt: int64 (T,), continuation: int64 (M,), both at least 1 long. model: int64 ids (B, T) -> logits (B, T, N), any
    function; it is called once, with or without the last token. Differentiable in the model's parameters.
    """
    ### BEGIN SOLUTION
    ids = torch.cat([prompt, continuation])
    logits = model(ids[None, :-1])[0, len(prompt) - 1 :]  # (M, N): row i predicts token i of the continuation
    return logits.log_softmax(dim=-1).gather(-1, continuation[:, None]).sum()
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_continuation_log_probability", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(continuation_log_probability)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(continuation_log_probability)
### END HIDDEN TESTS

# %% [markdown]
# ### Predict: a longer answer (extra)
#
# After the same prompt, answer A is "bank" and answer B is "bank and looked at the water". Which has the higher log-probability?

# %%
# Higher: "always A", "always B" or "it depends on the model"
predict("a longer answer", ...)

# %% tags=["code"]
prompt = lm.encode("The boat reached the river")
for answer in ("bank", "bank and looked at the water", "landing", "teacher"):
    ids = lm.encode(answer)
    total = continuation_log_probability(lm, prompt, ids).item()
    print(f"{answer:29} {total:7.2f} nats, {total / len(ids):6.2f} per token")

# %% [markdown]
# Each further factor is at most 1, so the sum favours short answers. The mean per token favours long answers whose ends are easy
# to predict. Benchmarks differ in which of the two they use, and some divide by the number of bytes; the ranking can differ, too.

# %% tags=["picture"]
# @title The same text, with the prompt cut at different places
cuts = (("The boat reached ", "the river"), ("The boat reached", " the river"), ("The boat reached th", "e river"))
for first, second in cuts:
    ids = torch.tensor(encode(first, merges) + encode(second, merges))
    total = continuation_log_probability(own_lm, ids[:1], ids[1:]).item()
    print(f"{first!r:22} + {second!r:13} {len(ids):2} tokens {total:7.2f} nats in all")

# %% [markdown]
# The bytes are the same each time, and so is the model that you trained in section 5. Only the cut differs, and with it the ids
# and their probability.

# %% [markdown]
# ## 9. Only what a grammar allows
#
# A program that reads what a model writes needs it in a fixed format, such as JSON. A prompt can ask for it; a mask can enforce
# it. In **constrained decoding**, all tokens that would break the format get the logit $-\infty$ before each draw.
#
# A grammar is given as a function: `advance(state, character)` returns the state after one more character, or `None` if the
# character is not allowed there. Here is one for a small part of JSON: an object whose values are strings and numbers.


# %% tags=["code"]
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ "
NEXT_STATE = {  # state: {characters: the state after one of them}
    "start": {"{": "open"},
    "open": {'"': "in a key"},
    "in a key": {LETTERS: "in a key", '"': "after a key"},
    "after a key": {":": "value"},
    "value": {'"': "in a text", "0123456789": "in a number"},
    "in a text": {LETTERS: "in a text", '"': "after a value"},
    "in a number": {"0123456789": "in a number", ",": "open", "}": "end"},
    "after a value": {",": "open", "}": "end"},
    "end": {},
}


def advance(state, character):
    """The state after a character, or None if it is not allowed."""
    for characters, after in NEXT_STATE[state].items():
        if character in characters:
            return after
    return None


def final_state(text, state="start"):
    """The state after a text, or None."""
    for character in text:
        state = None if state is None else advance(state, character)
    return state


for text in ('{"boat":12}', '{"boat":"old","age":7}', '{"boat":}', "boat"):
    print(f"{text:24} {final_state(text)}")

# %% [markdown]
# A token may have several characters and pass through several states: `":` ends a key and begins a value. So you have to try each
# token character by character.
#
# ### Exercise: `allowed_tokens(state, pieces, advance)`
#
# *Difficulty ★★☆, importance ●●○, about 6 minutes.*
#
# `pieces` is a list of `N` strings. Return a bool tensor `(N,)`: True where *all* characters of the piece are allowed, one after
# the other, beginning in `state`. An empty piece is not allowed, because a model could write it forever. A state may be any
# object except `None`, also 0 or an empty string, so compare with `is None`.
#
# **Worked example.** In the state "in a number", of the pieces `7`, `7,`, `7,"`, `7x` and the empty one, the first three are
# allowed.


# %% nbgrader={"grade": false, "grade_id": "allowed_tokens", "locked": false, "schema_version": 3, "solution": true, "task": false}
def allowed_tokens(state: object, pieces: list[str], advance: Callable[[object, str], object | None]) -> torch.Tensor:
    """Which tokens a grammar allows in a state: bool (N,), one entry for each of the N pieces.

    advance(state, character) returns the next state, or None where the character is not allowed. A piece is allowed if
    all its characters are, one after the other; an empty piece is not allowed. state is never None, and may
    be any other object: one that is false, has no hash or is equal to None. advance must not be called with None.
    """
    ### BEGIN SOLUTION
    allowed = []
    for piece in pieces:
        reached = state if piece else None
        for character in piece:
            reached = advance(reached, character)
            if reached is None:
                break
        allowed.append(reached is not None)
    return torch.tensor(allowed, dtype=torch.bool)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_allowed_tokens", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(allowed_tokens)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(allowed_tokens)
### END HIDDEN TESTS

# %% tags=["code"]
strings = [piece.decode() if piece.isascii() else "" for piece in pieces]  # a part of a character is never allowed here
for state in ("start", "open", "in a key", "in a number"):
    mask = allowed_tokens(state, strings, advance)
    some = [strings[i] for i in mask.nonzero()[:, 0].tolist()]
    print(f"{state:12} {len(some):3} of {len(strings)} tokens: {some[:8]}{' …' * (len(some) > 8)}")

# %% [markdown]
# Now let the model that you trained in section 5 write JSON. It has never seen any: the stories contain no braces.

# %% tags=["picture"]
for seed in range(3):
    generator, written, state = torch.Generator().manual_seed(seed), ids_of("The captain ", merges), "start"
    text = ""
    while state != "end" and len(text) < 60:
        mask = allowed_tokens(state, strings, advance)
        shares = own_lm(written[-96:])[-1].masked_fill(~mask, -torch.inf).softmax(-1)
        if len(text) > 40 and mask.any():  # come to an end: prefer closing punctuation
            closing = torch.tensor([string in ('"', "}", '":', '"}') for string in strings]) & mask
            shares = shares * closing if closing.any() else shares
        token = torch.multinomial(shares, 1, generator=generator)
        written, text = torch.cat([written, token]), text + strings[int(token)]
        state = final_state(text)
    print(text, "→", state)

# %% [markdown]
# Every text that reaches the state "end" has the right form. The content makes no sense: a mask removes what the grammar forbids,
# but it does not tell the model what is true. It also forces the model to continue texts that it would hardly ever have begun.

# %% [markdown]
# ## 10. Draft and verify
#
# A large model writes slowly because it is called once per token. In **speculative decoding** a small model, the *draft*, writes
# $M$ tokens, and the large one, the *target*, reads all of them in one call. This gives the target's own distributions at all $M$
# positions, and at one more ([Leviathan et al. 2022](https://arxiv.org/abs/2211.17192), [Chen et al.
# 2023](https://arxiv.org/abs/2302.01318)).
#
# The rule for one position, which `speculate` in lesson 9 derives, is as follows. Let $p_j$ be the target's probability
# of token $j$ there, and $q_j$ the draft's. Accept a drafted token $j$ with probability $\min(1, p_j / q_j)$. After a
# rejection, draw another token from what the draft lacks: $\max(0, p_j - q_j)$ for each token $j$, divided by the sum
# of these.
#
# ### Exercise: `verify_draft(drafted, draft, target, chances)`
#
# *Difficulty ★★☆, importance ●●○, about 10 minutes.*
#
# - `drafted` is int64 `(M,)`; row $i$ of `draft`, `(M, N)`, is the distribution from which token $i$ was drawn. Row $i$ of `target`,
#   `(M + 1, N)`, is the target's distribution at the same position; its last row is for the position after all drafted tokens.
# - Token $i$ is accepted if all before it were, and `chances[i] < target[i, drafted[i]] / draft[i, drafted[i]]`. The chances,
#   `(M,)`, are drawn uniformly from 0 to 1 by the caller, so your function itself is not random.
# - Return `(n_accepted, probabilities)`: an `int`, and the distribution `(N,)` of the next token. After a rejection at position
#   $i$ it is `max(0, target[i] - draft[i])`, entry by entry, divided by its sum. If all are accepted, it is the last row of
#   `target`.
#
# **Worked example.** Two tokens exist. The draft gives $(\tfrac34, \tfrac14)$, the target $(\tfrac12, \tfrac12)$, and token 0 was
# drafted. The ratio is $\tfrac23$. With the chance 0.5 it is accepted; with 0.9 it is rejected, and the next token is drawn from
# $(0, \tfrac14) / \tfrac14 = (0, 1)$.


# %% nbgrader={"grade": false, "grade_id": "verify_draft", "locked": false, "schema_version": 3, "solution": true, "task": false}
def verify_draft(
    drafted: torch.Tensor, draft: torch.Tensor, target: torch.Tensor, chances: torch.Tensor
) -> tuple[int, torch.Tensor]:
    """How many drafted tokens are accepted, and the distribution (N,) from which the next token is drawn.

    drafted: int64 (M,). draft: (M, N), target: (M + 1, N), rows that sum to 1. chances: (M,), numbers from 0 to 1.
    Token i is accepted if all before it were and chances[i] < target[i, drafted[i]] / draft[i, drafted[i]].
    """
    ### BEGIN SOLUTION
    for i, token in enumerate(drafted.tolist()):
        if not chances[i] < target[i, token] / draft[i, token]:
            lacking = (target[i] - draft[i]).clamp(min=0)
            return i, lacking / lacking.sum()
    return len(drafted), target[-1]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_verify_draft", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(verify_draft)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(verify_draft)
### END HIDDEN TESTS

# %% [markdown]
# ### Prove it
#
# From samples you could only estimate the distribution of the output. But you can compute it. Take one drafted token: it is token
# $j$ with probability $q_j$. For each $j$ there is a threshold. For chances below it, `verify` accepts, and $j$ is emitted; for
# chances above it, a token is drawn from the distribution that `verify` returns. Add up all the ways in which each token can be
# emitted.
#
# ### Predict: a bad draft
#
# The draft always proposes the same token, whatever the text. What is the distribution of the first emitted token?

# %%
# The distribution: "the draft's", "the target's" or "between the two"
predict("a bad draft", ...)

# %% [markdown]
# ### Exercise: `emitted_distribution(verify, draft, target)`
#
# *Difficulty ★★★, importance ●●○, about 12 minutes.*
#
# `draft` and `target` are distributions `(N,)`. Return the distribution `(N,)` of the first emitted token, exact to
# 0.001, for *any* function `verify`, right or wrong: find its threshold and its distributions by calling it. Call it as
# `verify(drafted (1,), draft (1, N), target (2, N), chances (1,))`; the second row of `target` may be any distribution, since it is
# not used for the first token.
#
# **Worked example.** If a wrong `verify` accepts everything, the result is `draft`. If another one rejects everything and returns
# the first row of its `target`, the result is `target`.


# %% nbgrader={"grade": false, "grade_id": "emitted_distribution", "locked": false, "schema_version": 3, "solution": true, "task": false}
def emitted_distribution(
    verify: Callable[..., tuple[int, torch.Tensor]], draft: torch.Tensor, target: torch.Tensor
) -> torch.Tensor:
    """The distribution (N,) of the first token that speculative decoding emits, with one drafted token; exact to 1e-3.

    draft, target: (N,), distributions. verify: a function like `verify_draft`, called with drafted (1,), draft (1, N),
    target (2, N), whose second row is any distribution, and chances (1,). It accepts below one threshold of chances, from
    0 to 1, and rejects above it.
    """
    ### BEGIN SOLUTION
    emitted = torch.zeros_like(target)
    for token in draft.nonzero()[:, 0]:
        low, high, instead = 0.0, 1.0, torch.zeros_like(target)
        for _ in range(16):  # the threshold is between low and high
            middle = (low + high) / 2
            n_accepted, probabilities = verify(
                token[None], draft[None], torch.stack([target, target]), torch.full_like(target[:1], middle)
            )
            if n_accepted:
                low = middle
            else:
                high, instead = middle, probabilities
        accepted = F.one_hot(token, len(target)).to(target.dtype)
        emitted = emitted + draft[token] * (high * accepted + (1 - high) * instead)
    return emitted
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_emitted_distribution", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check(emitted_distribution)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(emitted_distribution)
### END HIDDEN TESTS


# %% tags=["code"]
def corrects_from_the_target(drafted, draft, target, chances):
    """A wrong version: after a rejection it draws from the target itself."""
    n_accepted = verify_draft(drafted, draft, target, chances)[0]
    return n_accepted, target[n_accepted]


generator = torch.Generator().manual_seed(14)
for name, function in {"verify_draft": verify_draft, "the wrong version": corrects_from_the_target}.items():
    worst = 0.0
    for _ in range(20):
        q, p = torch.rand(2, 5, generator=generator).pow(3).softmax(-1)
        worst = max(worst, (emitted_distribution(function, q, p) - p).abs().max().item())
    print(f"{name:18} differs from the target by up to {worst:.4f}, in 20 pairs of distributions")

# %% [markdown]
# This is a test worth keeping. It checks a distribution and not samples, so it cannot fail because of an unlucky draw, and it finds
# errors that a reader of the texts would hardly notice.
#
# ### Use it
#
# The target is the small language model. The draft only uses counts from the stories: which word followed the last two words,
# mixed with which word followed the last one.


# %% tags=["code"]
def by_counting(ids):
    """The draft: the distribution (N,) of the next token, from counts of what followed the last two and the last one."""
    text, last, before = texts["words"][1], ids[-1], ids[-2]
    followed = text[2:][(text[:-2] == before) & (text[1:-1] == last)]
    shares = torch.bincount(followed, minlength=len(lm.words)).float()
    return 0.8 * shares / shares.sum().clamp(min=1) + (0.2 if len(followed) else 1.0) * pairs_counted[last]


@torch.no_grad()
def write_speculatively(target, draft, ids, n_tokens, M, generator):
    """Continue ids (T,) by at least n_tokens. Returns the text, and for each call (drafted, n_accepted, added)."""
    calls, end = [], len(ids) + n_tokens
    while len(ids) < end:
        proposed, rows = ids, []
        for _ in range(M):
            rows.append(draft(proposed))
            proposed = torch.cat([proposed, torch.multinomial(rows[-1], 1, generator=generator)])
        checked = target(proposed)[len(ids) - 1 :].softmax(-1)  # one call: (M + 1, N)
        drafted = proposed[len(ids) :]
        n, probabilities = verify_draft(drafted, torch.stack(rows), checked, torch.rand(M, generator=generator))
        added = torch.multinomial(probabilities, 1, generator=generator)
        ids = torch.cat([ids, drafted[:n], added])
        calls.append((drafted.tolist(), n, added.item()))
    return ids, calls


pairs_counted = counted(texts["words"][1], len(lm.words))
target = small_lm.load(yours=True)
prompt = target.encode("The boat reached the river bank.")
written, calls = write_speculatively(target, by_counting, prompt, 80, 4, torch.Generator().manual_seed(2))
print(target.decode(written))
tested = sum(min(n + 1, len(drafted)) for drafted, n, _ in calls)
share = sum(n for _, n, _ in calls) / tested
print(f"\n{len(written) - len(prompt)} tokens in {len(calls)} calls of the target")
print(f"accepted: {100 * share:.0f} % of the drafted tokens that were checked")

# %% tags=["picture"]
# @title The first calls of the target
names = target.words
figures.show(
    figures.tokens.drafts([([names[i] for i in drafted], n, names[added]) for drafted, n, added in calls[:6]]),
    caption="Blue: accepted. Hatched: rejected, or after a rejection. Orange: drawn from the distribution that verify returns.",
)

# %% [markdown]
# ### Predict: tokens per call
#
# Suppose that each drafted token that is checked is accepted with probability $\tfrac12$, independently of the others, and that
# the draft writes four. How many tokens does one call of the target yield on average?

# %%
# Tokens per call: "about 1.9", "about 3" or "about 5"
predict("tokens per call", ...)

# %% tags=["code"]
for rate in (0.3, 0.5, 0.8, 0.95):
    per_call = {M: sum(rate**i for i in range(M + 1)) for M in (1, 4, 16)}
    print(f"accepted {rate:4}:", ", ".join(f"M = {M}: {number:.2f} tokens per call" for M, number in per_call.items()))

# %% [markdown]
# With an accepted share $\alpha$, the same at every position, a call yields $1 + \alpha + \alpha^2 + \dots + \alpha^M$ tokens on
# average. A longer draft helps only if $\alpha$ is high, and drafting costs time, too. At one position, the probability that the
# rule accepts is what both distributions have in common, $\sum_j \min(p_j, q_j)$.

# %% [markdown]
# ## 11. The answer
#
# **What does the model read?** A list of ids. They stand for runs of bytes that were frequent in some text, and were learned
# before the model and without it. Any text can be encoded, but numbers, spaces and other scripts may be cut in ways that nobody
# chose, and the vector of a token that never occurred in training is of no use as an input. To compare models with different
# tokens, use the loss per byte of the same text.
#
# **Who chooses what it says?** Not the model alone: it gives a distribution. Temperature, top-p, min-p and penalties change that
# distribution, a grammar removes some of the tokens, and then a random number decides. Speculative decoding is the exception: it
# changes how fast the text is written, but not the distribution from which it is drawn.

# %% [markdown]
# ## Your experiment (extra)
#
# *Difficulty ★★☆, importance ●○○, about 6 minutes.* **How many merges halve a text?** Take `text = held_out[:4000]`,
# and encode it with the first $m$ merges, `merges[:m]`, for growing $m$. Your finding is the smallest $m$ with which
# the text has at most half as many ids as bytes. Plot the number of ids against $m$ as well: where do further merges
# help most?

# %% tags=["experiment"]
# Your code: the number of ids for 0 to 256 merges, and a plot

finding = ...  # a number of merges

# %%
check("experiment", finding)

# %% [markdown]
# ## 12. A grammar changes the distribution (extra)
#
# ### Predict: the mask only removes what is wrong (extra)
#
# A colleague says: "Constrained decoding gives valid texts with the same probabilities as if we drew texts freely and threw the
# invalid ones away. It is only faster." A toy model writes two letters: first `a` (0.9) or `b` (0.1); after `a` comes `x` (0.01)
# or `y` (0.99); after `b` always `x` (1.0). Only texts that end in `x` are valid. Is your colleague right?

# %%
# The two ways: "the same" or "different"
predict("the mask only removes what is wrong", ...)

# %% tags=["code"]
first, x_after = {"a": 0.9, "b": 0.1}, {"a": 0.01, "b": 1.0}
valid = {letter + "x": first[letter] * x_after[letter] for letter in first}
for text, share in valid.items():
    print(f"{text}: masked {first[text[0]]:.2f}, drawn freely until valid {share / sum(valid.values()):.2f}")

# %% [markdown]
# The mask looks at one step only. It lets the model choose `a`, after which a valid text is very improbable, and then forces it to
# write `x`. That is a property of the method. To get the other distribution, you would have to
# weight each token by how probable a valid text still is after it.

# %% [markdown]
# ## 13. A bug that shipped (extra)
#
# A much-used library divided the logits of repeated tokens by the penalty, whatever their sign.
#
# ```diff
# - logits[seen] /= penalty
# + logits[seen] = torch.where(logits[seen] > 0, logits[seen] / penalty, logits[seen] * penalty)
# ```
#
# It wrote "The dog dog dog dog", and a higher penalty caused more repetition
# ([transformers#2302](https://github.com/huggingface/transformers/issues/2302)). Why? A negative logit that is divided comes
# closer to 0, so it rises.
#
# More bugs that shipped are in the notebook `bug_museum.ipynb`.

# %% [markdown]
# ## Exercise: `train_bpe_counted(ids, n_merges)` (extra)
#
# *Difficulty ★★☆, importance ●○○, about 25 minutes.*
#
# `train_bpe` counts all pairs again after each merge. But a join changes only the pairs next to it. Learn the same merges with
# counts that are *updated*.
#
# `ids` is a linked list of ids, in which a position keeps its number when others disappear. `ids.first` is the first position
# (None if the list is empty); `ids.after(i)` and `ids.before(i)` are the neighbours of position `i`, or None. `ids.pair(i)` returns
# the id at position `i` and the next id as a pair, or None where there is no pair; each call counts as one *look*.
# `ids.join(i, new)` replaces both ids by `new`, in place: position `i` stays, the next position is gone.
#
# Return the merges, by the rules of `train_bpe`. With `T` ids and `J` joins in all, at most $2T + 8J$ looks are
# allowed. Look at the text through `ids.pair` only: copying it first would evade the count.
#
# **Worked example.** For the bytes of `abababc`, seven ids, and two merges, one walk takes seven looks. The pair (97, 98) is at the
# positions 0, 2 and 4. Joining at 0 removes the pairs at 0 and at 1, and adds the pair (256, 97) at 0.


# %%
def train_bpe_counted(ids: LinkedIds, n_merges: int) -> list[tuple[int, int]]:
    """The merges of `train_bpe`, from a linked list of ids that is joined in place, with counts that are updated.

    Looks at pairs at most 2 T + 8 J times, for T ids and J joins.
    """
    raise NotImplementedError  # replace this line


# %%
check(train_bpe_counted)

# %% [markdown]
# ## Summary
#
# 1. BPE begins with bytes and joins the most frequent pair, again and again. Any text can be encoded and decoded without loss.
# 2. What was frequent in the tokenizer's text takes few tokens; numbers, spaces and other scripts may take surprisingly many.
# 3. A loss per token depends on the tokens. Compare models by bits per byte.
# 4. Top-k, top-p and min-p cut off the tail of the distribution; penalties and grammars change it, too.
# 5. Speculative decoding changes the speed and not the distribution, and you can check that without drawing a sample.
#
# $$ q_j \min\left(1, \frac{p_j}{q_j}\right) + c \, \frac{\max(0, p_j - q_j)}{\sum_l \max(0, p_l - q_l)} = p_j , \qquad
#    c = 1 - \sum_l \min(p_l, q_l) $$
#
# The probability $p_j$ is the target's for token $j$, $q_j$ the draft's, and $c$ the probability of a rejection.
#
# **To read on:** Sennrich et al., [Neural Machine Translation of Rare Words with Subword
# Units](https://arxiv.org/abs/1508.07909), which brought BPE to language · Holtzman et al., [The Curious Case of Neural Text
# Degeneration](https://arxiv.org/abs/1904.09751), on greedy texts that repeat themselves · Leviathan et al., [Fast Inference from
# Transformers via Speculative Decoding](https://arxiv.org/abs/2211.17192), with the proof of what you computed.

# %%
progress()
