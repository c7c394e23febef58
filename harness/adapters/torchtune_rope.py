#!/usr/bin/env python3
"""torchtune, whichever version is importable: RotaryPositionalEmbeddings and Llama3ScaledRoPE, table and rotation.

--phi3           Phi3RotaryPositionalEmbeddings instead, which turns channels half the width apart
--late           keys are spread over the heads before they are rotated, as up to 0.3.0; else after, as from 0.3.1 on
--cast-module    the module is cast to the dtype before its table is built, as model.to(dtype) and rope_init() do
"""
import argparse

from plain_python import serve
from rope_request import llama3_of, plain_rope, positions_of
from torch_tensors import DTYPES, import_alone, read, rotate, torch, version_of, write

options = argparse.ArgumentParser()
options.add_argument("--phi3", action="store_true")
options.add_argument("--late", action="store_true")
options.add_argument("--cast-module", action="store_true")
options = options.parse_args()

embeddings = import_alone("torchtune.modules.position_embeddings", "torchtune", "torchtune.modules")


def module_for(request, positions):
    rope = plain_rope(request, "half" if options.phi3 else "interleaved", scales=not options.phi3)
    needed, scaling = int(positions.max()) + 1, llama3_of(rope)
    if options.phi3:
        family = "torchtune.models.phi3"
        phi3 = import_alone(f"{family}._position_embeddings", "torchtune.models", family)
        module = phi3.Phi3RotaryPositionalEmbeddings(rope["rotary_dim"], needed, rope["base"])
    elif scaling:
        family = "torchtune.models.llama3_1"
        scaled = import_alone(f"{family}._position_embeddings", "torchtune.models", family)
        module = scaled.Llama3ScaledRoPE(rope["rotary_dim"], needed, rope["base"], *scaling)
    else:
        module = embeddings.RotaryPositionalEmbeddings(rope["rotary_dim"], max_seq_len=needed, base=rope["base"])
    if options.cast_module:
        module = module.to(DTYPES[request["dtype"]])
        module.build_rope_cache(needed)
    return module


def rope_table(request):
    if request["dtype"] != "float32":
        raise NotImplementedError("its table is float32 whatever the dtype of the activations")
    positions = positions_of(read(request["inputs"]))
    module = module_for(request, positions)
    rows, pairs = module.cache[positions], request["rope"]["rotary_dim"] // 2
    cos, sin = (rows[:, :pairs], rows[:, 2 * pairs : 3 * pairs]) if options.phi3 else rows.unbind(-1)
    write(request["outputs"], {"inv_freq": module.theta, "cos": cos, "sin": sin})


def rope_apply(request):
    tensors = read(request["inputs"])
    positions = positions_of(tensors)
    module = module_for(request, positions)
    if "cos" in tensors:
        cos, sin = tensors["cos"], tensors["sin"]
        module.cache = torch.cat((cos, cos, sin, sin), -1) if options.phi3 else torch.stack((cos, sin), -1)
        positions = torch.arange(len(positions))
    heads, groups = tensors["q"].shape[2], tensors["k"].shape[2]
    if request["rope"]["rotary_dim"] != tensors["q"].shape[3]:
        raise NotImplementedError("only full rotary width")

    def turn(name, x, _):
        if options.late and name == "k":
            x = x.repeat_interleave(heads // groups, dim=2)
        turned = module(x, input_pos=positions[None])
        return turned[:, :, :: heads // groups] if options.late and name == "k" else turned

    rotate(request, turn)


# It rotates in float32 whatever the dtype of the activations: nothing wider is claimed.
NARROW = [name for name in DTYPES if name != "float64"]
serve("torchtune", version_of("torchtune"), {"rope_table": rope_table, "rope_apply": rope_apply}, NARROW)
