"""Known mistakes in `dequantize`."""

from .contract import dequantize

right = dequantize.alternative("product")

right.mistake("divides", {"* scale": "/ scale"}).feedback(
    "You divide by the scale. `quantize` divides; here you multiply."
)
right.mistake("times_127", {"* scale": "* scale * 127"}).feedback(
    "You multiply by 127 as well. The scale is already the largest value divided by 127."
)
right.mistake("divides_by_127", {"* scale": "* scale / 127"}).feedback(
    "You divide by 127 as well. The scale is already the largest value divided by 127."
)
right.mistake("in_int8", {"codes.to(scale.dtype) * scale": "(codes * scale.to(torch.int8)).to(scale.dtype)"}).feedback(
    "You round the scale to int8. Multiply in the dtype of the scale."
)
right.mistake("back_to_int8", {"codes.to(scale.dtype) * scale": "(codes * scale).to(torch.int8)"}).feedback(
    "You return int8. The numbers have the dtype of the scale."
)
right.mistake("always_float32", {"codes.to(scale.dtype) * scale": "codes.float() * scale.float()"}).feedback(
    "You always return float32. The numbers have the dtype of the scale."
)
right.mistake("codes_alone", {" * scale": ""}).feedback("You return the codes as they are. Multiply them by the scale.")
right.mistake("adds", {"* scale": "+ scale"}).feedback("You add the scale. A code is a multiple of it: multiply.")
