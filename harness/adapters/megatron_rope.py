#!/usr/bin/env python3
"""Megatron Core or Transformer Engine on the CPU, whichever is importable: their rotary modules, the rotation unfused.

Both give a table of angles, and take cosine and sine where they rotate: the table here is what becomes of unit vectors.
"""
import importlib.util

from plain_python import serve
from rope_request import llama3_of, plain_rope, positions_of, refuse_table
from stand_ins import import_with_stand_ins
from torch_tensors import DTYPES, read, rotate, torch, version_of, write

torch.cuda.current_device = lambda: "cpu"  # where both make their angles
MEGATRON = importlib.util.find_spec("megatron") is not None
if MEGATRON:
    names = ["rope_utils", "rotary_pos_embedding", "yarn_rotary_pos_embedding"]
    rotation, plain, yarn = import_with_stand_ins(
        [f"megatron.core.models.common.embeddings.{name}" for name in names], "megatron",
        given={"megatron.core.parallel_state.get_context_parallel_group": lambda **_: None,
               "megatron.core.utils.internal_api": lambda function: function})
else:
    (engine,) = import_with_stand_ins(["transformer_engine.pytorch.attention.rope"], "transformer_engine",
                                      "transformer_engine_torch")


def megatron_angles(rope, length, interleaved):
    """[length, 1, 1, rotary_dim], and what cosine and sine are multiplied by."""
    scaling = rope.get("scaling") or {"type": None}
    common = {"kv_channels": rope["head_dim"], "rotary_percent": rope["partial_rotary_factor"],
              "rotary_interleaved": interleaved, "rotary_base": rope["base"], "use_cpu_initialization": True}
    if scaling["type"] == "yarn":
        if scaling.get("attention_factor") is not None or rope["rotary_dim"] != rope["head_dim"] or interleaved:
            raise NotImplementedError("its yarn has no attention factor, partial width or interleaved layout")
        names = {"factor": "scaling_factor", "truncate": "correction_range_round_to_int", "beta_fast": "beta_fast",
                 "beta_slow": "beta_slow"}
        more = {theirs: scaling[ours] for ours, theirs in names.items() if scaling.get(ours) is not None}
        return yarn.YarnRotaryEmbedding(
            **common, **more, original_max_position_embeddings=int(scaling["original_max_position_embeddings"]),
            mscale=scaling.get("mscale"), mscale_all_dim=scaling.get("mscale_all_dim"))(length)
    if scaling["type"] == "linear":
        common["seq_len_interpolation_factor"] = scaling["factor"]
    elif scaling["type"]:
        factor, *others = llama3_of(rope)
        if others != [1, 4, 8192]:
            raise NotImplementedError("its llama3 scaling has all numbers but the factor written into the code")
        common.update(rope_scaling=True, rope_scaling_factor=factor)
    return plain.RotaryEmbedding(**common)(length), 1.0


def engine_angles(rope, length, interleaved):
    scaling = rope.get("scaling") or {"type": "linear", "factor": None}
    if scaling["type"] != "linear":
        raise NotImplementedError(f"no scaling {scaling['type']} here")
    return engine.RotaryPositionEmbedding(rope["head_dim"], rope["partial_rotary_factor"], scaling["factor"], length,
                                          rope["base"], interleaved)(length), 1.0


def turner(request, positions):
    """A function that rotates x [batch, seq, heads, head_dim]."""
    rope = plain_rope(request, scales=True)
    interleaved = rope.get("layout") == "interleaved"
    angles, mscale = (megatron_angles if MEGATRON else engine_angles)(rope, int(positions.max()) + 1, interleaved)
    angles = angles[positions]
    if not MEGATRON:
        return lambda x: engine.apply_rotary_pos_emb(x, angles, "bshd", interleaved=interleaved)
    return lambda x: rotation._apply_rotary_pos_emb_bshd(x.transpose(0, 1), angles, interleaved,
                                                         mscale=mscale).transpose(0, 1)


def rope_table(request):
    positions, rotary = positions_of(read(request["inputs"])), request["rope"]["rotary_dim"]
    half = {**request, "rope": {**request["rope"], "layout": "half"}}
    units = torch.zeros(1, len(positions), 1, request["rope"]["head_dim"], dtype=DTYPES[request["dtype"]])
    units[..., : rotary // 2] = 1  # (1, 0) becomes (cos, sin): 1 * cos and 0 * sin are exact
    turned = turner(half, positions)(units)[0, :, 0]
    write(request["outputs"], {"cos": turned[:, : rotary // 2], "sin": turned[:, rotary // 2:rotary]})


def rope_apply(request):
    tensors = read(request["inputs"])
    refuse_table(tensors)
    turn = turner(request, positions_of(tensors))
    rotate(request, lambda _, x, __: turn(x))


# Angles, and so tables, are float32 whatever the dtype of the activations: nothing wider is claimed.
NAME = "megatron-core" if MEGATRON else "transformer-engine"
serve(NAME, version_of(NAME), {"rope_table": rope_table, "rope_apply": rope_apply},
      [name for name in DTYPES if name != "float64"])
