"""What adapters of packages on JAX share whose only public operation is the rotation: turn(rope, x, positions), x
[batch, seq, heads, dim]."""
import jax
import numpy
from numpy_tensors import NAMES, read, write
from rope_request import positions_of, refuse_table

DTYPES = {name: NAMES[code] for name, code in (("float32", "F32"), ("float16", "F16"), ("bfloat16", "BF16"))}


def answer_table(request, rope, turn, first, second):
    """cos and sin as the rotation of (1, 0): 1 * cos and 0 * sin are exact. first, second: slices of the width."""
    positions = positions_of(read(request["inputs"]))
    units = numpy.zeros((1, len(positions), 1, rope["rotary_dim"]), DTYPES[request["dtype"]])
    units[..., first] = 1
    turned = numpy.asarray(turn(rope, units, positions))[0, :, 0]
    write(request["outputs"], {"cos": turned[:, first], "sin": turned[:, second]})


def answer_rotation(request, rope, turn):
    """Gradients where grad_rotated_* is given."""
    tensors = read(request["inputs"])
    refuse_table(tensors)
    outputs = {}
    for name in ("q", "k"):
        if name in tensors:
            rotated, backward = jax.vjp(lambda x: turn(rope, x, positions_of(tensors)), tensors[name])
            outputs[f"rotated_{name}"] = numpy.asarray(rotated)
            if f"grad_rotated_{name}" in tensors:
                outputs[f"grad_{name}"] = numpy.asarray(backward(tensors[f"grad_rotated_{name}"])[0])
    write(request["outputs"], outputs)
