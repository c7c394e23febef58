#!/usr/bin/env python3
"""MaxText on JAX's CPU, whichever version is importable: the rotary modules of layers/embeddings.py.

The module's own file only: the rest of MaxText is stood in for. The table is what becomes of unit vectors.
--llama   LLaMARotaryEmbedding, in the interleaved layout; default: RotaryEmbedding, or YarnRotaryEmbedding for yarn
"""
import os

os.environ["JAX_PLATFORMS"] = "cpu"
import importlib.metadata
import sys

import jax
import numpy
from jax_rotation import DTYPES, answer_rotation, answer_table
from plain_python import serve
from rope_request import llama3_of, plain_rope
from stand_ins import import_with_stand_ins

LLAMA = "--llama" in sys.argv
(layers,) = import_with_stand_ins(["maxtext.layers.embeddings"], "maxtext", "flax", given={"flax.nnx.Module": object})


def module_for(rope, dtype, length):
    scaling = rope.get("scaling") or {"type": None}
    width, kind = rope["head_dim"], scaling["type"]
    if rope["rotary_dim"] != width:
        raise NotImplementedError("only full rotary width")
    common = {"mesh": None, "embedding_dims": width, "fprop_dtype": dtype}
    if LLAMA:
        if llama3_of(rope) not in (None, [8, 1, 4, 8192]):
            raise NotImplementedError("its scaling is that of Llama 3.1, which is written into the code")
        return layers.LLaMARotaryEmbedding(1, rope["base"], use_scale=kind is not None, **common)
    if kind == "yarn":
        several = scaling.get("mscale") and scaling.get("mscale") == scaling.get("mscale_all_dim")
        if scaling.get("attention_factor") is not None or (scaling.get("mscale") and not several):
            raise NotImplementedError("its amplitude is 1, or that of the factor alone")
        betas = {name: scaling[name] for name in ("beta_fast", "beta_slow") if scaling.get(name) is not None}
        return layers.YarnRotaryEmbedding(
            max_position_embeddings=length, rope_theta=rope["base"], rope_factor=scaling["factor"],
            original_max_position_embeddings=int(scaling["original_max_position_embeddings"]), interleave=False,
            truncate=scaling.get("truncate") is not False, attention_scaling=not several, **betas, **common)
    if kind not in (None, "linear"):
        raise NotImplementedError(f"no scaling {kind} here")
    return layers.RotaryEmbedding(1, rope["base"], rope_linear_scaling_factor=scaling.get("factor", 1.0), **common)


def turn(rope, x, positions):
    """x [batch, seq, heads, dim]."""
    places = jax.numpy.broadcast_to(positions.astype(numpy.int32), x.shape[:2])
    return module_for(rope, x.dtype, int(positions.max()) + 1)(jax.numpy.asarray(x), places)


def rope_table(request):
    rope = plain_rope(request, scales=True)
    pairs = rope["rotary_dim"] // 2
    halves = (slice(0, None, 2), slice(1, None, 2)) if LLAMA else (slice(0, pairs), slice(pairs, None))
    answer_table(request, rope, turn, *halves)


def rope_apply(request):
    answer_rotation(request, plain_rope(request, "interleaved" if LLAMA else "half", scales=True), turn)


serve("maxtext", importlib.metadata.version("maxtext"), {"rope_table": rope_table, "rope_apply": rope_apply}, DTYPES)
