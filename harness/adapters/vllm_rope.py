#!/usr/bin/env python3
"""vLLM on the CPU, whichever version is importable: get_rope and forward_native of its layer.

The layer's own files only: the rest of vLLM asks for GPU libraries that take no part here, and is stood in for.
"""
import math
import types

from plain_python import serve
from rope_request import plain_rope, positions_of, refuse_table
from stand_ins import import_with_stand_ins
from torch_tensors import DTYPES, read, rotate, torch, version_of, write


class CustomOp(torch.nn.Module):
    """What the layer is derived from: here it never has a kernel of its own."""

    def __init__(self, **_):
        super().__init__()

    @staticmethod
    def register(_):
        return lambda kind: kind

    def enabled(self):
        return False


SERVED = types.SimpleNamespace(model_config=types.SimpleNamespace(max_model_len=0))
(rotary,) = import_with_stand_ins(["vllm.model_executor.layers.rotary_embedding"], "vllm", given={
    "vllm.model_executor.custom_op.CustomOp": CustomOp, "vllm.config.get_current_vllm_config": lambda: SERVED})


def parameters_of(rope, needed):
    """What vLLM makes of config.json, and the length that its table is asked for."""
    given = {name: value for name, value in (rope.get("scaling") or {"type": "default"}).items() if value is not None}
    kind, longest, length = given.pop("type"), given.pop("max_position_embeddings", 0), given.pop("length", needed)
    more = {"rope_type": kind, "rope_theta": rope["base"], "partial_rotary_factor": rope["partial_rotary_factor"]}
    if kind not in ("default", "linear", "dynamic", "yarn", "longrope", "llama3"):
        raise NotImplementedError(f"no scaling {kind} here")
    if kind == "yarn" and {"mscale", "mscale_all_dim"} <= set(given) and "attention_factor" not in given:
        more["rope_type"] = "deepseek_yarn"
    if kind == "linear":  # the table is the factor times as long
        needed, given["factor"] = math.ceil(needed / given["factor"]), float(given["factor"])
    if kind == "dynamic":
        needed, given["max_trained_positions"] = int(length), longest
    if kind == "longrope":
        SERVED.model_config.max_model_len = length
        needed = int(longest or given["original_max_position_embeddings"] * given["factor"])
    if "original_max_position_embeddings" in given:
        given["original_max_position_embeddings"] = int(given["original_max_position_embeddings"])
    return {**more, **given}, needed


def layer_for(request, positions):
    rope = plain_rope(request, scales=True)
    parameters, length = parameters_of(rope, int(positions.max()) + 1)
    rotary._ROPE_DICT.clear()  # it keeps layers by their parameters, but not by the length served
    return rotary.get_rope(rope["head_dim"], length, rope.get("layout", "half") == "half", parameters,
                           DTYPES[request["dtype"]])


def rope_table(request):
    positions = positions_of(read(request["inputs"]))
    layer = layer_for(request, positions)
    if hasattr(layer, "long_short_cos_sin_cache"):
        rows = layer.long_short_cos_sin_cache
        first = layer.original_max_position_embeddings if layer.use_long_rope else 0
        last = len(rows) if layer.use_long_rope else layer.original_max_position_embeddings
    else:
        rows, first, last = layer.cos_sin_cache, 0, len(layer.cos_sin_cache)
    if int(positions.max()) >= last - first:
        raise NotImplementedError(f"its table ends at position {last - first - 1}")
    cos, sin = rows[first + positions].chunk(2, -1)
    write(request["outputs"], {"cos": cos, "sin": sin})


def rope_apply(request):
    tensors = read(request["inputs"])
    refuse_table(tensors)
    positions = positions_of(tensors)
    layer = layer_for(request, positions)

    def turn(_, x, __):
        """x [batch, seq, heads, dim]; vLLM has one row of all heads for each token of whichever sequence."""
        rows = x.reshape(x.shape[0] * x.shape[1], -1)
        forward = getattr(layer, "forward_native", layer.forward)
        return forward(positions.repeat(x.shape[0]), rows, rows)[0].reshape(x.shape)

    rotate(request, turn)


# Its frequencies and tables are made in float32: nothing wider is claimed.
NARROW = [name for name in DTYPES if name != "float64"]
serve("vllm", version_of("vllm"), {"rope_table": rope_table, "rope_apply": rope_apply}, NARROW)
