#!/usr/bin/env python3
"""Google's gemma, whichever version is importable, on JAX's CPU: apply_rope of gm.math.

The table is what comes out when unit vectors are rotated: there is no public function that gives it.
"""
import os

os.environ["JAX_PLATFORMS"] = "cpu"
import importlib.metadata
import importlib.util
import pathlib

import jax
import numpy
from numpy_tensors import NAMES, read, write
from plain_python import serve
from rope_request import plain_rope, positions_of

# The module alone: the package imports much for loading and training that takes no part here.
path = pathlib.Path(importlib.util.find_spec("gemma").submodule_search_locations[0])
spec = importlib.util.spec_from_file_location("positional", path / "gm" / "math" / "_positional_embeddings.py")
positional = importlib.util.module_from_spec(spec)
spec.loader.exec_module(positional)

DTYPES = {"float32": NAMES["F32"], "float16": NAMES["F16"], "bfloat16": NAMES["BF16"]}


def turn(rope, x, positions):
    """x [batch, seq, heads, dim]."""
    if rope["rotary_dim"] != rope["head_dim"]:
        raise NotImplementedError("only full rotary width")
    places = jax.numpy.broadcast_to(positions.astype(numpy.int32), x.shape[:2])
    scaling, more = rope.get("scaling") or {"type": None}, {}
    if scaling["type"] not in (None, "linear", "proportional"):
        raise NotImplementedError(f"no scaling {scaling['type']} here")
    if "factor" in scaling:
        more["scale_factor"] = scaling["factor"]
    if scaling["type"] == "proportional":
        more["rope_proportion"] = scaling["proportion"]
    return positional.apply_rope(jax.numpy.asarray(x), places, base_frequency=rope["base"], **more)


def rope_table(request):
    rope = plain_rope(request, scales=True)
    positions = positions_of(read(request["inputs"]))
    pairs = rope["rotary_dim"] // 2
    units = numpy.zeros((1, len(positions), 1, 2 * pairs), DTYPES[request["dtype"]])
    units[..., :pairs] = 1  # (1, 0) becomes (cos, sin): 1 * cos and 0 * sin are exact
    turned = numpy.asarray(turn(rope, units, positions))[0, :, 0]
    write(request["outputs"], {"cos": turned[:, :pairs], "sin": turned[:, pairs:]})


def rope_apply(request):
    rope = plain_rope(request, "half", scales=True)
    tensors = read(request["inputs"])
    if "cos" in tensors:
        raise NotImplementedError("it takes no table from outside")
    outputs = {}
    for name in ("q", "k"):
        if name in tensors:
            rotated, backward = jax.vjp(lambda x: turn(rope, x, positions_of(tensors)), tensors[name])
            outputs[f"rotated_{name}"] = numpy.asarray(rotated)
            if f"grad_rotated_{name}" in tensors:
                outputs[f"grad_{name}"] = numpy.asarray(backward(tensors[f"grad_rotated_{name}"])[0])
    write(request["outputs"], outputs)


serve("gemma", importlib.metadata.version("gemma"), {"rope_table": rope_table, "rope_apply": rope_apply}, DTYPES)
