#!/usr/bin/env python3
"""MLX on the CPU, whichever version is importable: mx.fast.rope.

The table is what comes out when unit vectors are rotated: MLX has no function that gives it.
"""
import mlx.core as mx
from plain_python import serve
from rope_request import plain_rope, positions_of, refuse_table

DTYPES = {"float32": mx.float32, "float16": mx.float16, "bfloat16": mx.bfloat16}


def turn(rope, x, layout, offset=0):
    """x [batch, heads, tokens, dim], a token at each position from offset on."""
    return mx.fast.rope(x, rope["rotary_dim"], traditional=layout == "interleaved", base=rope["base"], scale=1.0,
                        offset=offset)


def rope_table(request):
    rope, dtype = plain_rope(request), DTYPES[request["dtype"]]
    positions = positions_of(mx.load(request["inputs"], format="safetensors"))
    pairs, count = rope["rotary_dim"] // 2, int(positions.max()) + 1
    units = mx.concatenate([mx.ones((1, 1, count, pairs), dtype), mx.zeros((1, 1, count, pairs), dtype)], -1)
    turned = turn(rope, units, "half")[0, 0][positions]  # (1, 0) becomes (cos, sin): 1 * cos and 0 * sin are exact
    save(request["outputs"], {"cos": turned[:, :pairs], "sin": turned[:, pairs:]})


def rope_apply(request):
    rope = plain_rope(request)
    tensors = mx.load(request["inputs"], format="safetensors")
    refuse_table(tensors)
    positions = positions_of(tensors)
    first = int(positions[0])
    if not mx.array_equal(positions, mx.arange(first, first + len(positions))):
        raise NotImplementedError("only positions without gaps")
    rotated = {}
    for name in ("q", "k"):
        def of(x):
            return turn(rope, x.transpose(0, 2, 1, 3), rope["layout"], first).transpose(0, 2, 1, 3)

        if name in tensors:
            rotated[f"rotated_{name}"] = of(tensors[name])
            if f"grad_rotated_{name}" in tensors:
                rotated[f"grad_{name}"] = mx.vjp(of, [tensors[name]], [tensors[f"grad_rotated_{name}"]])[1][0]
    save(request["outputs"], rotated)


def save(path, tensors):
    tensors = {name: mx.contiguous(tensor) for name, tensor in tensors.items()}
    with open(path, "wb") as file:  # by path, MLX would add an extension of its own
        mx.save_safetensors(file, tensors, {"by": "mlx"})  # without metadata, MLX 0.32 writes null for it: not the format


mx.set_default_device(mx.cpu)
serve("mlx", mx.__version__, {"rope_table": rope_table, "rope_apply": rope_apply}, DTYPES)
