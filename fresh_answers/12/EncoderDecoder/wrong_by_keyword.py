# the mask is passed by keyword, so that modules that call it otherwise are refused
from torch import nn


class EncoderDecoder(nn.Module):
    def __init__(self, encoder, decoder):
        super().__init__()
        self.encoder, self.decoder = encoder, decoder

    def encode(self, source, source_mask=None):
        return self.encoder(source, source_mask=source_mask)

    def decode(self, targets_in, memory, source_mask=None):
        return self.decoder(targets_in, memory, source_mask=source_mask)

    def forward(self, source, targets_in, source_mask=None):
        return self.decode(targets_in, self.encode(source, source_mask), source_mask)
