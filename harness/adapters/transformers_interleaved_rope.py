#!/usr/bin/env python3
"""Hugging Face transformers, whichever version is importable: models that turn neighbouring channels by functions of their
own. Their tables, and Cohere and GLM, which have the usual names for them, are transformers_rope.py's.

--model NAME   gptj (default), llama4, deepseek_v2, deepseek_v3. DeepSeek V3 gives the channels of a pair half the width
               apart, whatever the order in which they come in.
"""
import argparse

from plain_python import serve
from rope_request import plain_rope, positions_of
from torch_tensors import DTYPES, read, rotate, torch, version_of
from transformers_models import Model

options = argparse.ArgumentParser()
options.add_argument("--model", choices=("gptj", "llama4", "deepseek_v2", "deepseek_v3"), default="gptj")
model = Model(options.parse_args().model)
COMPLEX = model.name in ("llama4", "deepseek_v2")


def table(request, positions):
    """cos and sin, [seq, pairs], as they come before the rotation; of complex numbers also these, [1, seq, pairs]: how they
    lie in memory decides which loop multiplies them."""
    rope = plain_rope(request, "interleaved", scales=True)
    if (rope.get("scaling") or {"type": "yarn"})["type"] != "yarn":
        raise NotImplementedError(f"no scaling {rope['scaling']['type']} here")
    width, x = rope["rotary_dim"], torch.zeros(1, dtype=DTYPES[request["dtype"]])
    if model.name != "gptj" and width != rope["head_dim"]:
        raise NotImplementedError("only full rotary width")
    made = model.Rotary(model.config(rope, int(positions.max()) + 1))(x, positions[None])
    if COMPLEX:
        return made.real[0], made.imag[0], made
    cos, sin = made if model.name != "gptj" else made[::-1]  # which has one column a pair
    return cos[0, :, : width // 2], sin[0, :, : width // 2], None


def rope_apply(request):
    tensors = read(request["inputs"])
    with torch.no_grad():
        cos, sin, turns = table(request, positions_of(tensors))
    if "cos" in tensors:
        cos, sin = tensors["cos"], tensors["sin"]
        turns = torch.complex(cos.float(), sin.float())[None] if COMPLEX else None
    width = request["rope"]["rotary_dim"]

    def turn(_, x, __):
        if model.name == "llama4":
            return model.file.apply_rotary_emb(x, x, turns)[0]
        if model.name == "gptj":
            return torch.cat((model.file.apply_rotary_pos_emb(x[..., :width], sin[None], cos[None]), x[..., width:]), -1)
        heads_first = x.transpose(1, 2)
        if model.name == "deepseek_v2":
            return model.file.apply_rotary_emb(heads_first, heads_first, turns)[0].transpose(1, 2)
        whole = (torch.cat((half, half), -1)[None] for half in (cos, sin))
        return model.file.apply_rotary_pos_emb_interleave(heads_first, heads_first, *whole)[0].transpose(1, 2)

    rotate(request, turn)


# Complex numbers are made of float32 whatever the dtype of the activations: nothing wider is claimed.
CLAIMED = [name for name in DTYPES if not COMPLEX or name != "float64"]
serve(f"transformers-{model.name}", version_of("transformers"), {"rope_apply": rope_apply}, CLAIMED)
