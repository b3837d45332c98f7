"""`EncoderDecoder`: any encoder and any decoder as one module, in two halves."""

import torch
from torch import nn

from grading.exercises.exercise import EXERCISE, Script, exercise, helper, method, ref

from .cases import parts, sentences, simple, translated, unnamed

encoder_decoder = exercise(
    "EncoderDecoder",
    see="4. Encoder and decoder",
    hints=(
        "Who has to know of the padding in the source: the encoder, whose positions look at one another, the decoder, "
        "which looks at them, or both?",
        "`__init__` keeps the two modules as attributes, which makes them its parts. `encode` asks one of them, "
        "`decode` the other, and `forward` is one call of each. Pass on the output of the encoder "
        "unchanged, whatever it is.",
        "`def encode(self, source, source_mask=None): return self.encoder(…, …)`; `decode` takes `targets_in, memory, "
        "source_mask=None`; `forward` returns `self.decode(targets_in, self.encode(…), …)`.",
    ),
)


@encoder_decoder.oracle
class EncoderDecoderOracle(nn.Module):
    def __init__(self, encoder, decoder):
        super().__init__()
        self.parts = nn.ModuleList([encoder, decoder])

    def encode(self, source, source_mask=None):
        return self.parts[0](source, source_mask)

    def decode(self, targets_in, memory, source_mask=None):
        return self.parts[1](targets_in, memory, source_mask)

    def forward(self, source, targets_in, source_mask=None):
        return self.parts[1](targets_in, self.parts[0](source, source_mask), source_mask)


WORDS = {"source": torch.tensor([[0, 2, 1], [1, 1, 0]]), "targets_in": torch.tensor([[2, 0], [1, 1]])}
MASK = torch.tensor([[False, False, True], [True, False, False]])


@encoder_decoder.example("the whole, without and with padding")
def _():
    encoder, decoder = simple()
    s = Script(encoder=encoder, decoder=decoder, **WORDS)
    m = s.call(EXERCISE, s.encoder, s.decoder, name="module")
    s.call(m, s.source, s.targets_in, name="logits")
    yield s.case(ref("logits")).label("EncoderDecoder(encoder, decoder)(source (2, 3), targets_in (2, 2))")
    s = Script(encoder=encoder, decoder=decoder, **WORDS, source_mask=MASK)
    m = s.call(EXERCISE, s.encoder, s.decoder, name="module")
    s.call(m, s.source, s.targets_in, s.source_mask, name="logits")
    s.call(helper("attribute"), s.encoder, "calls", name="calls")
    text = (
        "EncoderDecoder(encoder, decoder)(source (2, 3), targets_in (2, 2), source_mask (2, 3)); calls of the encoder"
    )
    yield s.case(ref("logits"), ref("calls")).label(text)


@encoder_decoder.example("the two halves, of a memory that is a pair", check_types=True)
def _():
    encoder, decoder = simple(paired=True)
    s = Script(encoder=encoder, decoder=decoder, **WORDS, source_mask=MASK)
    m = s.call(EXERCISE, s.encoder, s.decoder, name="module")
    memory = s.call(method(m, "encode"), s.source, s.source_mask, name="memory")
    s.call(method(m, "decode"), s.targets_in, memory, s.source_mask, name="logits")
    case = s.case(ref("memory"), ref("logits")).does_not_mutate()
    yield case.label("encode(source, source_mask) and decode(targets_in, memory, source_mask)")


@encoder_decoder.example("its parts learn, and change their mode with it")
def _():
    encoder, decoder = simple()
    s = Script(encoder=encoder, decoder=decoder, **WORDS)
    m = s.call(EXERCISE, s.encoder, s.decoder, name="module")
    s.call(method(m, "eval"))
    logits = s.call(m, s.source, s.targets_in, name="logits")
    s.call(helper("backward"), s.call(method(logits, "sum"), name="sum"))
    s.call(helper("gradients_of"), s.encoder, name="gradients")
    s.call(helper("modes_of"), s.encoder, name="modes")
    case = s.case(ref("gradients"), ref("modes"))
    yield case.label("the encoder's gradients after a backward pass, and its mode after eval()")


@encoder_decoder.criterion("logits without padding", points=0.5)
def _(draw):
    yield translated(draw, 2, 5, 4, masked=False).case(ref("logits"))
    yield translated(draw, 3, 4, 7, masked=False, by_name=True).case(ref("logits"))
    yield translated(draw, 4, 3, 1, masked=False).case(ref("logits"))
    yield translated(draw, 4, 6, 6, masked=False).case(ref("logits"))
    encoder, decoder = parts(draw)
    s = Script(encoder=encoder, decoder=decoder, **sentences(draw, 2, 4, 3), other=draw.integers(0, 6, 2, 4))
    m = s.call(EXERCISE, encoder=s.encoder, decoder=s.decoder, name="module")
    s.call(m, s.other, s.targets_in, s.source_mask)
    s.call(m, s.source, s.targets_in, name="logits")  # nothing of the first call may remain
    yield s.case(ref("logits")).label("the second of two calls with sources of the same shape")
    s = translated(draw, 2, 4, 3, masked=False)
    s.call(helper("fill"), s.encoder, 0.3)
    s.call(ref("module"), s.source, s.targets_in, name="again")  # after training, it must read the same source again
    yield s.case(ref("again")).label("the second of two calls with one source, between which the encoder changed")


@encoder_decoder.criterion("the padding reaches both", points=1)
def _(draw):
    yield translated(draw, 2, 5, 4, padded=True).case(ref("logits"))
    yield translated(draw, 3, 4, 7, padded=True, by_name=True).case(ref("logits"))
    yield translated(draw, 4, 6, 1, padded=True).case(ref("logits"))
    for mode in ("train", "eval"):
        encoder, decoder = parts(draw)
        s = Script(encoder=encoder, decoder=decoder, **sentences(draw, 3, 5, 4))
        m = s.call(EXERCISE, s.encoder, s.decoder, name="module")
        s.call(method(m, mode))
        s.call(m, s.source, s.targets_in, s.source_mask, name="logits")
        text = f"source (3, 5), targets_in (3, 4) and a mask, after module.{mode}()"
        yield s.case(ref("logits")).label(text)


@encoder_decoder.criterion("encode and decode are its halves", points=0.5)
def _(draw):
    for masked in (True, False):
        yield translated(draw, 2, 5, 4, masked=masked, halves=True).case(ref("memory"), ref("logits"))
    encoder, decoder = parts(draw)
    s = Script(encoder=encoder, decoder=decoder, **sentences(draw, 3, 4, 5, padded=False), memory=draw.normal(3, 4, 5))
    m = s.call(EXERCISE, s.encoder, s.decoder, name="module")
    s.call(method(m, "decode"), s.targets_in, s.memory, source_mask=s.source_mask, name="logits")
    yield s.case(ref("logits")).label("decode(targets_in (3, 5), memory (3, 4, 5), source_mask (3, 4))")
    s = Script(
        encoder=encoder, decoder=decoder, **sentences(draw, 3, 4, 5, padded=False), other=draw.integers(0, 6, 3, 4)
    )
    m = s.call(EXERCISE, s.encoder, s.decoder, name="module")
    memory = s.call(method(m, "encode"), s.source, name="memory")
    s.call(method(m, "encode"), s.other)
    s.call(method(m, "decode"), s.targets_in, memory, s.source_mask, name="logits")
    yield s.case(ref("logits")).label("decode, with the memory of the first of two sources")
    open_ = sentences(draw, 3, 5, 4, padded=False)["source_mask"]
    s = Script(encoder=encoder, decoder=decoder, **sentences(draw, 3, 5, 4), open=open_)
    m = s.call(EXERCISE, s.encoder, s.decoder, name="module")
    memory = s.call(method(m, "encode"), s.source, s.open, name="memory")
    s.call(method(m, "decode"), s.targets_in, memory, s.source_mask, name="logits")
    s.call(method(m, "decode"), s.targets_in, memory, name="unmasked")
    case = s.case(ref("logits"), ref("unmasked"))
    yield case.label("decode with another mask than encode, and with none")
    s = Script(encoder=encoder, decoder=decoder, **sentences(draw, 3, 4, 5), memory=draw.normal(3, 4, 5))
    m = s.call(EXERCISE, s.encoder, s.decoder, name="module")
    s.call(method(m, "encode"), s.source, s.source_mask)
    s.call(method(m, "decode"), s.targets_in, s.memory, name="logits")
    yield s.case(ref("logits")).label("decode without a mask, after encode with one")


@encoder_decoder.criterion("the encoder is asked once, and any memory goes on as it is", points=0.5)
def _(draw):
    for kind, text in (
        ({}, ""),
        ({"paired": True}, ", of a memory that is a pair"),
        ({"named": True}, ", of a memory that is a dict"),
    ):
        s = translated(draw, 2, 5, 4, masked=False, **kind)
        s.call(helper("attribute"), s.encoder, "calls", name="encoder_calls")
        s.call(helper("attribute"), s.decoder, "calls", name="decoder_calls")
        observed = s.case(ref("logits"), ref("encoder_calls"), ref("decoder_calls"))
        yield observed.label(f"the calls of both in one forward pass{text}")
    yield translated(draw, 2, 3, 4, named=True, halves=True).case(ref("memory"), ref("logits"))
    for masked in (True, False):
        encoder, decoder = unnamed(draw)
        s = Script(encoder=encoder, decoder=decoder, **sentences(draw, 2, 5, 4))
        m = s.call(EXERCISE, s.encoder, s.decoder, name="module")
        s.call(m, s.source, s.targets_in, *([s.source_mask] if masked else []), name="logits")
        text = f"an encoder and a decoder whose mask has no name; {'a mask' if masked else 'no mask'}"
        yield s.case(ref("logits")).label(text)
    # Sentences of one word, which are the same with a mask and without: only the memory itself is compared
    encoder, decoder = parts(draw)
    given = sentences(draw, 3, 4, 5)
    s = Script(encoder=encoder, decoder=decoder, **given | {"source": given["source"][:, :1].repeat(1, 4)})
    m = s.call(EXERCISE, s.encoder, s.decoder, name="module")
    s.call(method(m, "encode"), s.source, s.source_mask, name="memory")
    yield s.case(ref("memory")).label("encode of sentences that repeat one word, with padding")
    s = translated(draw, 3, 4, 5, paired=True, halves=True)
    s.call(method(ref("module"), "decode"), s.targets_in, ref("memory"), s.source_mask, name="again")
    s.call(helper("attribute"), s.encoder, "calls", name="encoder_calls")
    yield s.case(ref("again"), ref("encoder_calls")).label("decode twice, of a memory that is a pair")


@encoder_decoder.criterion("both are its parts: they learn and change their mode with it", points=1)
def _(draw):
    for masked, text in ((True, ""), (False, " without a mask")):
        s = translated(draw, 2, 5, 4, masked=masked)
        squares = s.call(method(ref("logits"), "square"), name="squares")
        s.call(helper("backward"), s.call(method(squares, "sum"), name="sum"))
        for name in ("encoder", "decoder"):
            s.call(helper("gradients_of"), ref(name), name=f"{name}_gradients")
        case = s.case(ref("encoder_gradients"), ref("decoder_gradients"))
        yield case.label(f"the gradients of both after a backward pass{text}")
    encoder, decoder = parts(draw)
    s = Script(encoder=encoder, decoder=decoder, **sentences(draw, 2, 5, 4))
    m = s.call(EXERCISE, s.encoder, s.decoder, name="module")
    s.call(method(m, "eval"))
    squares = s.call(method(s.call(m, s.source, s.targets_in, name="logits"), "square"), name="squares")
    s.call(helper("backward"), s.call(method(squares, "sum"), name="sum"))
    s.call(helper("gradients_of"), s.encoder, name="gradients")
    yield s.case(ref("gradients")).label("the gradients of the encoder after module.eval() and a backward pass")
    encoder, decoder = parts(draw)
    s, modes = Script(encoder=encoder, decoder=decoder, **sentences(draw, 2, 4, 3)), []
    for name in ("encoder", "decoder"):
        s.call(method(ref(name), "train"))
    s.call(EXERCISE, s.encoder, s.decoder, name="module")
    for moment, change in (("before", None), ("in_eval", "eval"), ("in_train", "train")):
        if change:
            s.call(method(ref("module"), change))
        both = ("encoder", "decoder")
        modes += [s.call(helper("modes_of"), ref(name), name=f"{name}_{moment}") for name in both]
    s.call(ref("module"), s.source, s.targets_in)  # nor does a call change them
    modes += [s.call(helper("modes_of"), ref(name), name=f"{name}_after") for name in both]
    weights = s.call(helper("parameters"), ref("module"), name="weights")
    s.call(method(weights, "__len__"), name="count")
    text = (
        "the modes of both, before and after module.eval() and module.train(), and after a call; and how many "
        "parameters it has"
    )
    yield s.case(*modes, ref("count")).label(text)


@encoder_decoder.criterion("float64, any device, arguments left alone", points=0.5, check_types=True)
def _(draw):
    s = translated(draw, 2, 5, 4)
    yield s.case(ref("logits")).does_not_mutate()
    s = Script(**sentences(draw, 2, 5, 4, padded=False))
    encoder, decoder = parts(draw)
    for node in (encoder, decoder):
        for name in node.state:
            node.state[name] = node.state[name].double()
    s.inputs |= {"encoder": encoder, "decoder": decoder}
    m = s.call(EXERCISE, s.encoder, s.decoder, name="module")
    s.call(m, s.source, s.targets_in, s.source_mask, name="logits")
    yield s.case(ref("logits")).label("an encoder and a decoder in float64")
    yield translated(draw, 3, 4, 2).case(ref("logits")).device_only()
