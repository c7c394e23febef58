#!/usr/bin/env python3
"""Hugging Face transformers, whichever version is importable: models that turn neighbouring channels by functions of their
own. Their tables, and Cohere and GLM, which have the usual names for them, are transformers_rope.py's.

--model NAME   gptj (default), llama4, deepseek_v2, deepseek_v3. DeepSeek V3 gives the channels of a pair half the width
               apart, whatever the order in which they come in.
"""
import argparse
import importlib
import os

from plain_python import serve
from rope_request import plain_rope, positions_of
from torch_tensors import DTYPES, read, rotate, torch, version_of

NAMES = {"gptj": ("GPTJConfig", "GPTJRotaryEmbedding"), "llama4": ("Llama4TextConfig", "Llama4TextRotaryEmbedding"),
         "deepseek_v2": ("DeepseekV2Config", "DeepseekV2RotaryEmbedding"),
         "deepseek_v3": ("DeepseekV3Config", "DeepseekV3RotaryEmbedding")}
os.environ["HF_HUB_OFFLINE"] = "1"
options = argparse.ArgumentParser()
options.add_argument("--model", choices=NAMES, default="gptj")
MODEL = options.parse_args().model

try:
    models = importlib.import_module(f"transformers.models.{MODEL}.modeling_{MODEL}")
    configs = importlib.import_module(f"transformers.models.{MODEL}.configuration_{MODEL}")
except ModuleNotFoundError as missing:
    raise SystemExit(f"transformers {version_of('transformers')} has no model {MODEL}: {missing}")
Config, Rotary = getattr(configs, NAMES[MODEL][0]), getattr(models, NAMES[MODEL][1], None)
COMPLEX = MODEL in ("llama4", "deepseek_v2")


def yarn_settings(rope, length):
    scaling = {name: value for name, value in (rope.get("scaling") or {}).items() if value is not None}
    if not scaling:
        return {"max_position_embeddings": length}
    if scaling["type"] != "yarn" or MODEL == "gptj":
        raise NotImplementedError(f"no scaling {scaling['type']} here")
    kind, trained = scaling.pop("type"), int(scaling.pop("original_max_position_embeddings"))
    longest = int(scaling.pop("max_position_embeddings", trained * scaling["factor"]))
    return {"max_position_embeddings": longest,
            "rope_scaling": {"rope_type": kind, "type": kind, "original_max_position_embeddings": trained, **scaling}}


def table(request, positions):
    """cos and sin, [seq, pairs], as they come before the rotation; of complex numbers also these, [1, seq, pairs]: how they
    lie in memory decides which loop multiplies them."""
    rope = plain_rope(request, "interleaved", scales=True)
    width, length, x = rope["rotary_dim"], int(positions.max()) + 1, torch.zeros(1, dtype=DTYPES[request["dtype"]])
    settings = yarn_settings(rope, length)
    if MODEL == "gptj":
        if rope["base"] != 10000:
            raise NotImplementedError("its base is 10000")
        if Rotary:
            sin, cos = Rotary(Config(n_embd=2 * rope["head_dim"], n_head=2, rotary_dim=width, n_positions=length))(x, positions)
        else:  # up to 4.57 the attention module makes it
            sin, cos = models.create_sinusoidal_positions(length, width)[positions].chunk(2, -1)
        return cos, sin, None
    if width != rope["head_dim"]:
        raise NotImplementedError("only full rotary width")
    known = {"llama4": {"head_dim": width}}.get(MODEL, {"qk_rope_head_dim": width})
    made = Rotary(config=Config(rope_theta=rope["base"], **known, **settings))(x, positions[None])
    if COMPLEX:
        return made.real[0], made.imag[0], made
    cos, sin = (whole[0, :, : width // 2] for whole in made)
    return cos, sin, None


def rope_apply(request):
    tensors = read(request["inputs"])
    with torch.no_grad():
        cos, sin, turns = table(request, positions_of(tensors))
    if "cos" in tensors:
        cos, sin = tensors["cos"], tensors["sin"]
        turns = torch.complex(cos.float(), sin.float())[None] if COMPLEX else None
    width = request["rope"]["rotary_dim"]

    def turn(_, x, __):
        if MODEL == "llama4":
            return models.apply_rotary_emb(x, x, turns)[0]
        if MODEL == "gptj":
            return torch.cat((models.apply_rotary_pos_emb(x[..., :width], sin[None], cos[None]), x[..., width:]), -1)
        heads_first = x.transpose(1, 2)
        if MODEL == "deepseek_v2":
            return models.apply_rotary_emb(heads_first, heads_first, turns)[0].transpose(1, 2)
        whole = (torch.cat((half, half), -1)[None] for half in (cos, sin))
        return models.apply_rotary_pos_emb_interleave(heads_first, heads_first, *whole)[0].transpose(1, 2)

    rotate(request, turn)


# Complex numbers are made of float32 whatever the dtype of the activations: nothing wider is claimed.
CLAIMED = [name for name in DTYPES if not COMPLEX or name != "float64"]
serve(f"transformers-{MODEL}", version_of("transformers"), {"rope_apply": rope_apply}, CLAIMED)
