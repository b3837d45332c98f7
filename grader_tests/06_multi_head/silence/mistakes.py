"""Known mistakes in `silence`."""

from .contract import silence

right = silence.alternative("in_a_copy")

right.mistake("changes_its_argument", {"    outputs = outputs.clone()\n": ""}).feedback(
    "You write into the caller's tensor. Copy it first, with `.clone()`."
)
right.mistake("silences_sentences", {"outputs[:, heads]": "outputs[[h for h in heads if h < len(outputs)]]"}).feedback(
    "You silence sentences of the batch. The heads are dimension 1: `[:, heads]`."
)
right.mistake(
    "silences_words", {"outputs[:, heads]": "outputs[:, :, [h for h in heads if h < outputs.shape[2]]]"}
).feedback("You silence words. The heads are dimension 1: `[:, heads]`.")
right.mistake("removes_the_heads").patch("""
- outputs[:, heads] = 0.0
- return outputs
+ return outputs[:, [h for h in range(outputs.shape[1]) if h not in heads]]
""").feedback("You remove the heads, so the result is narrower and `W_o` no longer fits. Set them to 0 instead.")
right.mistake("keeps_only_these").patch("""
- outputs = outputs.clone()
- outputs[:, heads] = 0.0
- return outputs
+ kept = torch.zeros_like(outputs)
+ kept[:, heads] = outputs[:, heads]
+ return kept
""").feedback("You keep the named heads and silence the others. It is the other way round.")
right.mistake("silences_one_only", {"[:, heads]": "[:, heads[:1]]"}).feedback(
    "You silence only the first of the heads. Silence all of them."
)
