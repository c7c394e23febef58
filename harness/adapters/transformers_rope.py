#!/usr/bin/env python3
"""Hugging Face transformers, whichever version is importable: rotary embeddings of its models.

--model NAME     whose module is asked: llama (default) or another of transformers_models.py
--cast-module    the module is cast to the dtype before its table is built, as model.to(dtype) does
--cast-after-build    in calls one after another: between the first table and the first call
"""
import argparse
import inspect

from plain_python import serve
from rope_request import plain_rope, positions_of
from torch_tensors import DTYPES, read, rotate, torch, version_of, write
from transformers_models import CLASSES, Model

options = argparse.ArgumentParser()
options.add_argument("--model", choices=CLASSES, default="llama")
options.add_argument("--cast-module", action="store_true")
options.add_argument("--cast-after-build", action="store_true")
options = options.parse_args()

model = Model(options.model)
Rotary = model.Rotary
LAYOUT = "interleaved" if model.name in ("cohere", "glm", "gptj", "llama4", "deepseek_v2") else "half"


def module_for(rope, length):
    if "config" in inspect.signature(Rotary.__init__).parameters:  # from 4.43 on
        return Rotary(config=model.config(rope, length))
    # Before, the attention module took width and base out of the configuration, and a class of its own for a scaling.
    width = rope["rotary_dim"] if model.name in ("gpt_neox", "phi") else rope["head_dim"]
    scaling, kind, more = rope.get("scaling"), Rotary, {}
    if scaling:
        names = {"linear": "LinearScaling", "dynamic": "DynamicNTKScaling"}
        name = f"{CLASSES[model.name]}{names.get(scaling['type'])}RotaryEmbedding"
        if not hasattr(model.file, name):
            raise NotImplementedError(f"this version has no scaling {scaling['type']}")
        kind, more = getattr(model.file, name), {"scaling_factor": scaling["factor"]}
        length = int(scaling.get("max_position_embeddings") or length)
    return kind(width, max_position_embeddings=length, base=rope["base"], **more)


def cos_and_sin(given):
    """What a module returns, as cos and sin of one column a channel, [..., rotary_dim]."""
    if torch.is_tensor(given):  # Llama 4 and DeepSeek V2: complex, one column a pair
        given = given.real, given.imag
    elif model.name == "gptj":  # sin and cos, one column a pair
        given = given[::-1]
    elif model.name != "gpt_oss":  # cos and sin, one column a pair
        return given
    return [torch.cat((part, part), -1) for part in given]


def table(request, positions):
    """The module, and cos and sin as it returns them, [seq, rotary_dim]."""
    rope = plain_rope(request, LAYOUT, scales=True)
    dtype = DTYPES[request["dtype"]]
    x = torch.zeros(1, 1, 1, dtype=dtype)  # only its dtype and device are looked at
    needed = int(positions.max()) + 1
    length = int((rope.get("scaling") or {}).get("length") or needed)  # of the sequence that the positions are of
    if length < needed:
        raise NotImplementedError(f"a sequence of {length} has no position {needed - 1}")
    # A module that keeps a table is built for all positions; with a cast, for one, so that it builds the table anew.
    module = module_for(rope, 1 if options.cast_module else needed)
    if options.cast_module:
        module = module.to(dtype)
    if "position_ids" in inspect.signature(Rotary.forward).parameters:
        last = torch.tensor([length - 1])  # tells it the length
        cos, sin = (whole[0, :-1] for whole in cos_and_sin(module(x, torch.cat((positions, last))[None])))
    else:
        cos, sin = (whole.reshape(-1, whole.shape[-1])[positions] for whole in module(x, seq_len=length))
    if cos.shape[-1] != rope["rotary_dim"]:
        raise NotImplementedError(f"{model.name} of this version rotates {cos.shape[-1]} channels of "
                                  f"{rope['head_dim']} here, not {rope['rotary_dim']}")
    return module, cos, sin


def one_column_a_pair(full):
    half = full.shape[-1] // 2
    return full[:, ::2] if torch.equal(full[:, ::2], full[:, 1::2]) and half > 1 else full[:, :half]


kept = None  # the module that calls one after another are made of


def next_call(request, positions):
    """The module of all these calls, and what a model gets of it for its new rows: cos and sin, [seq, rotary_dim]."""
    global kept
    rope, state = plain_rope(request, LAYOUT, scales=True), request["state"]
    dtype = DTYPES[request["dtype"]]
    x = torch.zeros(1, 1, 1, dtype=dtype)
    if state["call"] == 0:
        # A module that makes a table in its constructor makes it for as many positions as it is told, and at least one.
        kept = module_for(rope, 1 if options.cast_module else state["built_for"] or 1)
        if options.cast_module or options.cast_after_build:
            kept = kept.to(dtype)
    if "position_ids" in inspect.signature(Rotary.forward).parameters:
        cos, sin = (whole[0] for whole in kept(x, positions[None]))
    else:
        cos, sin = (whole.reshape(-1, whole.shape[-1])[positions]
                    for whole in kept(x, seq_len=state["lengths"][state["call"]]))
    return kept, cos, sin


def rope_table(request):
    positions = positions_of(read(request["inputs"]))
    with torch.no_grad():
        module, cos, sin = (next_call if request["op"] == "rope_call" else table)(request, positions)
    dtype = DTYPES[request["dtype"]]
    if cos.dtype != dtype:
        raise NotImplementedError(f"its table is {cos.dtype} whatever the dtype of the activations")
    # LlamaLinearScalingRotaryEmbedding divides the positions: its inv_freq is not the scaled one. Nor is that of a cast
    # module the one that a table was made from before.
    of_table = options.cast_after_build and "position_ids" not in inspect.signature(Rotary.forward).parameters
    other = "LinearScaling" in type(module).__name__ or of_table
    inv_freq = None if other else getattr(module, "inv_freq", None)
    write(request["outputs"], {"inv_freq": inv_freq, "cos": one_column_a_pair(cos),
                               "sin": one_column_a_pair(sin)})


def rope_apply(request):
    tensors = read(request["inputs"])
    positions = positions_of(tensors)
    with torch.no_grad():
        _, cos, sin = table(request, positions)
    if "cos" in tensors:  # given tables: one column a pair, laid out as the model has it
        cos, sin = (t.repeat_interleave(2, -1) if model.name == "cohere" else torch.cat((t, t), -1)
                    for t in (tensors["cos"], tensors["sin"]))
    width = request["rope"]["rotary_dim"]
    if model.name in ("gptj", "llama4", "gpt_oss", "deepseek_v2", "deepseek_v3"):
        raise NotImplementedError(f"its tables only: {model.name} rotates in a way of its own")
    arguments = inspect.signature(model.file.apply_rotary_pos_emb).parameters

    def turn(_, x, __):
        heads_first = x.transpose(1, 2)
        turned, rest = heads_first[..., :width], heads_first[..., width:]
        if "position_ids" in arguments and arguments["position_ids"].default is inspect.Parameter.empty:
            turned, _ = model.file.apply_rotary_pos_emb(turned, turned, cos, sin, torch.arange(len(positions))[None])
        else:
            turned, _ = model.file.apply_rotary_pos_emb(turned, turned, cos[None], sin[None])
        return torch.cat((turned, rest), -1).transpose(1, 2)

    rotate(request, turn)


# Cohere rotates in float32 whatever the dtype of the activations: nothing wider is claimed.
CLAIMED = [name for name in DTYPES if model.name != "cohere" or name != "float64"]
serve(f"transformers-{model.name}", version_of("transformers"),
      {"rope_table": rope_table, "rope_call": rope_table, "rope_apply": rope_apply}, CLAIMED)
