"""Right answers to `EncoderDecoder` in other styles."""

from torch import nn


# %% InTwoAttributes
class EncoderDecoder(nn.Module):
    def __init__(self, encoder: nn.Module, decoder: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder

    def encode(self, source, source_mask=None):
        return self.encoder(source, source_mask)

    def decode(self, targets_in, memory, source_mask=None):
        return self.decoder(targets_in, memory, source_mask)

    def forward(self, source, targets_in, source_mask=None):
        memory = self.encode(source, source_mask)
        return self.decode(targets_in, memory, source_mask)


# %% InADictionary
class EncoderDecoder(nn.Module):
    def __init__(self, encoder, decoder):
        super().__init__()
        self.halves = nn.ModuleDict({"reads": encoder, "writes": decoder})

    def encode(self, source, source_mask=None):
        return self.halves["reads"](source, source_mask)

    def decode(self, targets_in, memory, source_mask=None):
        return self.halves["writes"](targets_in, memory, source_mask)

    def forward(self, source, targets_in, source_mask=None):
        return self.halves["writes"](targets_in, self.halves["reads"](source, source_mask), source_mask)


# %% HalvesByAddModule
class EncoderDecoder(nn.Module):
    def __init__(self, encoder, decoder):
        nn.Module.__init__(self)
        self.add_module("enc", encoder)
        self.add_module("dec", decoder)

    def encode(self, source, source_mask=None):
        return self.enc.forward(source, source_mask)

    def decode(self, targets_in, memory, source_mask=None):
        return self.dec.forward(targets_in, memory, source_mask)

    def forward(self, source, targets_in, source_mask=None):
        read = self.encode(source, source_mask)
        return self.decode(memory=read, targets_in=targets_in, source_mask=source_mask)
