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
from jax_rotation import DTYPES, answer_rotation, answer_table
from plain_python import serve
from rope_request import plain_rope

# The module alone: the package imports much for loading and training that takes no part here.
path = pathlib.Path(importlib.util.find_spec("gemma").submodule_search_locations[0])
spec = importlib.util.spec_from_file_location("positional", path / "gm" / "math" / "_positional_embeddings.py")
positional = importlib.util.module_from_spec(spec)
spec.loader.exec_module(positional)


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
    pairs = rope["rotary_dim"] // 2
    answer_table(request, rope, turn, slice(0, pairs), slice(pairs, None))


def rope_apply(request):
    answer_rotation(request, plain_rope(request, "half", scales=True), turn)


serve("gemma", importlib.metadata.version("gemma"), {"rope_table": rope_table, "rope_apply": rope_apply}, DTYPES)
