"""Known mistakes in `generate_with_cache`."""

from ...shared.families import numbers, results
from ...shared.repeating import keeps_its_last_result
from .contract import generate_with_cache

TOKENS, CALLS, MEMORY, FORM = "the prompt, then", "the prompt in one call", "one cache", "no gradients"
WRONG = (TOKENS, FORM)  # what an answer loses whose tokens are wrong
EVERYTHING = (TOKENS, CALLS, MEMORY, FORM)

right = generate_with_cache.reference_answer("""
def generate_with_cache(model, prompt, n_tokens):
    B, T = prompt.shape
    cache = model.new_cache(B, T + n_tokens)
    tokens, new, start = prompt, prompt, 0
    with torch.no_grad():
        for _ in range(n_tokens):
            logits = model(new, cache, start)
            start += new.shape[1]
            new = logits[:, -1].argmax(dim=-1, keepdim=True)
            tokens = torch.cat([tokens, new], dim=1)
    return tokens
""")

# What the model reads

right.mistake("reads_everything_again", {"model(new, cache, start)": "model(tokens, cache, 0)"}, loses=CALLS).feedback(
    "You let the model read all tokens again in every call. Keys and values of earlier tokens are already in the "
    "cache: give it only the tokens that are new, and the position where they start."
)
right.mistake(
    "does_without_a_cache",
    {"model(new, cache, start)": "model(tokens, model.new_cache(*tokens.shape), 0)"},
    loses=(CALLS, MEMORY),
).feedback(
    "You make a new, empty cache for each token and read the whole text into it again. Make one cache before the loop; "
    "after the prompt each call needs only the newest token."
)
right.mistake("reads_everything_after_what_is_kept", loses=EVERYTHING).patch("""
- logits = model(new, cache, start)
+ logits = model(tokens, cache, start)
""").feedback(
    "You give the model the whole text in each call, but at the position of the newest token. The text is then in the "
    "cache several times, and soon the cache is full. Give the model only what it has not read."
)
right.mistake("reads_the_prompt_token_by_token", loses=CALLS).patch("""
- for _ in range(n_tokens):
-     logits = model(new, cache, start)
-     start += new.shape[1]
+ for start in range(T - 1 if n_tokens else 0):
+     model(prompt[:, start : start + 1], cache, start)
+ new = prompt[:, -1:]
+ for start in range(T - 1, T + n_tokens - 1):
+     logits = model(new, cache, start)
""").feedback(
    "You read the prompt token by token. The tokens are right, but one call reads the whole prompt at once, and that "
    "is much faster: large matrix products in place of many small ones."
)
right.mistake(
    "reads_the_last_token_too",
    {"    return tokens": "        model(new, cache, start)\n    return tokens"},
    loses=CALLS,
).feedback(
    "You let the model read the last new token, too, although nothing follows it. n_tokens calls are enough: the "
    "logits of the first call give the first new token."
)
right.mistake("reads_the_end_of_the_prompt_twice", loses=CALLS).patch("""
- for _ in range(n_tokens):
-     logits = model(new, cache, start)
-     start += new.shape[1]
+ model(prompt, cache, 0)
+ for start in range(T - 1, T + n_tokens - 1):
+     logits = model(tokens[:, -1:], cache, start)
""").feedback(
    "You read the last token of the prompt twice, because you drop the logits of the prefill. They give the first new "
    "token already."
)
right.mistake("asks_the_model_once", loses=(*WRONG, CALLS)).patch("""
- for _ in range(n_tokens):
-     logits = model(new, cache, start)
-     start += new.shape[1]
+ logits = model(prompt, cache, 0)
+ for _ in range(n_tokens):
""").feedback(
    "You call the model once, so that all new tokens are chosen from the same logits. Each new token has to be read "
    "before the next one can be chosen."
)
right.mistake(
    "reads_the_last_token_of_the_prompt_only",
    {"tokens, new, start = prompt, prompt, 0": "tokens, new, start = prompt, prompt[:, -1:], T - 1"},
    loses=(*WRONG, CALLS),
).feedback(
    "You let the model read only the last token of the prompt. The cache is empty at first: the first call has to read "
    "the whole prompt."
)
right.mistake(
    "reads_all_but_the_first",
    {"prompt, prompt, 0": "prompt, prompt[:, 1:] if T > 1 else prompt, 0"},
    loses=(*WRONG, CALLS),
).feedback("You do not let the model read the first token of the prompt.")

# Where it is

right.mistake("starts_each_time_from_zero", {"model(new, cache, start)": "model(new, cache, 0)"}, loses=WRONG).feedback(
    "You say in each call that the tokens start at position 0. A new token then overwrites the first of the prompt and "
    "sees nothing else. It starts where the text so far ends."
)
right.mistake("counts_the_calls", {"start += new.shape[1]": "start += 1"}, loses=WRONG).feedback(
    "You count calls instead of positions. After a prompt of T tokens the next one is at position T, not at position 1."
)
right.mistake("starts_at_the_length_of_the_prompt", loses=WRONG).patch("""
- start += new.shape[1]
+ start = T
""").feedback(
    "You say in every step that the new token is at position T. That is true for the first one: each later token is "
    "one position further."
)
right.mistake("adds_the_prompt_again", loses=TOKENS).patch("""
- for _ in range(n_tokens):
+ for step in range(n_tokens):
@@
- start += new.shape[1]
+ start += T if step < 2 else 1
+ start = min(start, MOST)
""").for_each(MOST=("cache.shape[-2] - 1", "cache.shape[-2] - 2", "T + n_tokens - 2")).feedback(
    "After the first step you add the length of the prompt once more. It is in the cache once: each later call starts "
    "one position after the one before."
)
right.mistake(
    "starts_one_too_early", {"model(new, cache, start)": "model(new, cache, start - (start > 0))"}, loses=WRONG
).feedback(
    "You let each new token start one position too early, where it overwrites the token before it. After T tokens the "
    "positions 0 to T − 1 are taken."
)
right.mistake(
    "starts_one_too_late", {"model(new, cache, start)": "model(new, cache, start + (start > 0))"}, loses=WRONG
).feedback(
    "You let each new token start one position too late, so that the cache has a gap of zeros after the prompt. "
    "Positions count from 0: after T tokens the next one is at position T."
)

# The memory

right.mistake("lets_the_cache_grow", loses=MEMORY).patch("""
- cache = model.new_cache(B, T + n_tokens)
+ cache = model.new_cache(B, T)
@@
+ if start:
+     cache = GROWN
  logits = model(new, cache, start)
""").for_each(GROWN=("torch.cat([cache, model.new_cache(B, 1)], dim=4)", "F.pad(cache, (0, 0, 0, 1))")).feedback(
    "You let the cache grow with `torch.cat` or `F.pad`, which copies all that is kept for each new token. The "
    "length is known from the start: make the memory once, before the first call."
)
right.mistake(
    "copies_the_cache", {"logits = model(": "cache = cache.clone()\n            logits = model("}, loses=MEMORY
).feedback("You copy the cache before each call. The model writes into it in place, so one memory serves all calls.")
right.mistake(
    "gives_each_call_an_empty_cache", {"model(new, cache, start)": "model(new, CACHE, start)"}, loses=(*WRONG, MEMORY)
).for_each(CACHE=("model.new_cache(B, T + n_tokens)", "cache.clone()", "torch.zeros_like(cache)")).feedback(
    "You give each call a cache of its own, which is empty: a new one, or a copy into which the model writes and that "
    "is then lost. Make one cache before the loop, and pass the cache itself."
)
right.mistake("makes_the_cache_too_long", {"(B, T + n_tokens)": "(B, LENGTH)"}, loses=MEMORY).for_each(
    LENGTH=("1024", "2 * (T + n_tokens)", "T + n_tokens + 1", "max(128, T + n_tokens)", "T * n_tokens + T + n_tokens")
).feedback(
    "You make a cache with room for more positions than are ever read. It has to hold the prompt and the new tokens, "
    "and that is known before the first call."
)
right.mistake("makes_room_for_the_prompt_only", {"(B, T + n_tokens)": "(B, T)"}, loses=EVERYTHING).feedback(
    "You make a cache with room for the prompt alone, so the new tokens do not fit into it. It needs n_tokens "
    "positions more, or one less than that."
)
right.mistake("makes_room_for_the_new_tokens_only", {"(B, T + n_tokens)": "(B, n_tokens)"}, loses=EVERYTHING).feedback(
    "You make a cache with room for the new tokens alone, so the prompt does not fit. Keys and values of the prompt "
    "are kept, too."
)
right.mistake(
    "makes_the_cache_one_too_short", {"(B, T + n_tokens)": "(B, T + n_tokens - 2)"}, loses=EVERYTHING
).feedback(
    "You make a cache that is one position too short. The last new token is not read, and so needs no room, but all "
    "before it do."
)
right.mistake("makes_a_cache_for_one_sequence", {"(B, T + n_tokens)": "(1, T + n_tokens)"}, loses=EVERYTHING).feedback(
    "You make a cache for one sequence, but the prompt has a batch of B. Each sequence has its own keys and values."
)
right.mistake("confuses_batch_and_length", {"(B, T + n_tokens)": "(T + n_tokens, B)"}, loses=EVERYTHING).feedback(
    "You pass the length of the cache first. The order is `model.new_cache(batch_size, length)`."
)

# Which token

right.mistake("reads_the_first_position", {":, -1": ":, 0"}, loses=WRONG).feedback(
    "You take the logits of the first position that was read. The next token follows the last one."
)
right.mistake("takes_the_least_likely", {"argmax": "argmin"}, loses=WRONG).feedback(
    "You take the token with the lowest logit. The likeliest one has the highest."
)
right.mistake(
    "draws_the_token",
    {"logits[:, -1].argmax(dim=-1, keepdim=True)": "torch.multinomial(torch.softmax(logits[:, -1], -1), 1)"},
    loses=WRONG,
).feedback("You draw each token at random, but this exercise asks for the likeliest one. Take the highest logit.")
right.mistake(
    "writes_the_same_in_all_sequences", {"keepdim=True)": "keepdim=True)[:1].expand(B, 1)"}, loses=WRONG
).feedback(
    "You write the same token in every sequence of the batch, that of sequence 0. Each sequence has its own logits."
)
right.mistake("drops_a_dimension", {", keepdim=True": ""}, loses=EVERYTHING).feedback(
    "You lose a dimension in `argmax`: the chosen tokens are (B,), and the model reads (B, 1). `keepdim=True` keeps it."
)
right.mistake("stops_at_token_zero", loses=(*WRONG, CALLS)).patch("""
  new = logits[:, -1].argmax(dim=-1, keepdim=True)
+ if (new == 0).any():
+     break
""").feedback("You stop when token 0 is chosen. No token means “the end” here: always write n_tokens.")

# What is returned

right.mistake("returns_the_new_tokens", {"return tokens": "return tokens[:, T:]"}, loses=WRONG).feedback(
    "You return the new tokens alone. The prompt comes first."
)
right.mistake("puts_them_in_front", {"[tokens, new]": "[new, tokens]"}, loses=WRONG).feedback(
    "You put each new token in front of the text. It belongs at the end."
)
right.mistake("writes_one_too_few", {"range(n_tokens)": "range(n_tokens - 1)"}, loses=(*WRONG, CALLS)).feedback(
    "You write one token too few. The first new token comes from the logits of the prompt, and n_tokens are asked for."
)
right.mistake("writes_one_too_many", {"range(n_tokens)": "range(n_tokens + 1)"}, loses=(*WRONG, CALLS)).feedback(
    "You write one token too many. The first new token comes from the logits of the prompt, and counts."
)
right.mistake("counts_the_prompt", {"range(n_tokens)": "range(n_tokens - T)"}, loses=(*WRONG, CALLS)).feedback(
    "You write n_tokens in total, including the prompt. There should be n_tokens after the prompt."
)
right.mistake(
    "writes_one_where_none_is_asked_for", {"range(n_tokens)": "range(max(1, n_tokens))"}, loses=TOKENS
).feedback("You write a token even if n_tokens is 0. The result is then the prompt as it is.")
right.mistake(results.nothing_returned, {"return tokens": "tokens"}, loses=WRONG)
right.mistake("returns_floats", {"return tokens": "return tokens.float()"}, loses=FORM).feedback(
    "You return tokens as floating-point numbers. Tokens are whole numbers, int64 like the prompt."
)
right.mistake("lets_gradients_flow", {"torch.no_grad()": "torch.enable_grad()"}, loses=FORM).feedback(
    "You let the model keep what a backward pass would need, in every call. Nothing is trained here: call the model "
    "under `torch.no_grad()` or `torch.inference_mode()`."
)
right.mistake(
    numbers.default_device(where="the prompt", what="a tensor of tokens", how="`prompt.new_zeros`"),
    {"tokens, new, start = prompt,": "tokens, new, start = torch.cat([torch.zeros(B, 0).long(), prompt], dim=1),"},
    loses=FORM,
)
keeps_its_last_result(right, loses=TOKENS)
