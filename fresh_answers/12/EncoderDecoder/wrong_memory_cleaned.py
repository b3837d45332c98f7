# padded positions of the memory are set to 0 before the decoder gets it, where it has to get what the encoder gave
from torch import nn


class EncoderDecoder(nn.Module):
    def __init__(self, encoder, decoder):
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder

    def encode(self, source, source_mask=None):
        memory = self.encoder(source, source_mask)
        if source_mask is None:
            return memory
        return memory.masked_fill(source_mask.unsqueeze(-1), 0.0)

    def decode(self, targets_in, memory, source_mask=None):
        return self.decoder(targets_in, memory, source_mask)

    def forward(self, source, targets_in, source_mask=None):
        memory = self.encode(source, source_mask)
        return self.decode(targets_in, memory, source_mask)
