#!/usr/bin/env python3
"""Hugging Face transformers, whichever version is importable: rotary tables and rotations of models with positions on
several axes.

--model NAME  whose module is asked: qwen2_vl (default), qwen2_5_vl, qwen3_vl
--vision      its vision tower's axial table instead of the text model's M-RoPE
"""
import argparse
import inspect

from plain_python import serve
from rope_request import plain_rope, refuse_table
from torch_tensors import DTYPES, read, rotate, torch, version_of, write
from transformers_models import HEADS, files_of

# model -> where its classes' names begin: of the text model, of its configuration, of the vision tower
MODELS = {"qwen2_vl": ("Qwen2VL", "Qwen2VLText", "Qwen2VLVision"),
          "qwen2_5_vl": ("Qwen2_5_VL", "Qwen2_5_VLText", "Qwen2_5_VLVision"),
          "qwen3_vl": ("Qwen3VLText", "Qwen3VLText", "Qwen3VLVision")}

options = argparse.ArgumentParser()
options.add_argument("--model", choices=MODELS, default="qwen2_vl")
options.add_argument("--vision", action="store_true")
options = options.parse_args()

models, configs = files_of(options.model)
TEXT, CONFIG, VISION = MODELS[options.model]


def axes_of(rope, kind):
    axes = rope.get("axes")
    if not axes or axes["type"] != kind:
        raise NotImplementedError(f"{options.model}{' --vision' if options.vision else ''} has {kind} positions only")
    return axes


def scaling_settings(rope, length):
    """What a configuration says of the request's scaling, and of the lengths that go with it."""
    given = {name: value for name, value in (rope["scaling"] or {"type": "default"}).items() if value is not None}
    kind, trained = given.pop("type"), int(given.get("original_max_position_embeddings", 0))
    if kind not in ("default", "linear", "dynamic", "yarn", "llama3"):
        raise NotImplementedError(f"this adapter does not ask for scaling {kind}")
    if given.pop("length", length) != length:
        raise NotImplementedError(f"a sequence of these positions has the length {length}")
    longest = given.pop("max_position_embeddings", 0) or trained * given.get("factor", 1) or length
    if trained:
        given["original_max_position_embeddings"] = trained
    return int(longest), {"rope_type": kind, **given}


def text_module(rope, positions, x):
    """The module's inv_freq, cos and sin, as its model has them, and the sections."""
    axes = axes_of(rope, "mrope")
    interleaved = options.model == "qwen3_vl"
    if axes["mrope_interleaved"] != interleaved:
        raise NotImplementedError(f"{options.model} has {'interleaved' if interleaved else 'blocked'} sections only")
    if rope["rotary_dim"] != rope["head_dim"]:
        raise NotImplementedError("this adapter asks for whole heads")
    sections = axes["mrope_section"]
    longest, scaling = scaling_settings(rope, int(positions.max()) + 1)
    scaling["mrope_section"] = sections
    if int(version_of("transformers").split(".")[0]) >= 5:
        scaling["rope_theta"] = rope["base"]
    config = getattr(configs, CONFIG + "Config")(
        hidden_size=HEADS * rope["head_dim"], num_attention_heads=HEADS, num_key_value_heads=HEADS,
        head_dim=rope["head_dim"], max_position_embeddings=longest, rope_theta=rope["base"],
        rope_scaling=scaling)
    module = getattr(models, TEXT + "RotaryEmbedding")(config)
    cos, sin = module(x, positions[:, None])  # a dynamic scaling sets inv_freq here
    return module.inv_freq, cos, sin, sections


def turned_by(x, cos, sin, sections):
    """x [batch, heads, seq, head_dim], by the function that the model calls."""
    if cos.dim() == 4:  # a table for each axis: the function picks the sections
        return models.apply_multimodal_rotary_pos_emb(x, x, cos, sin, sections)[0]
    return models.apply_rotary_pos_emb(x, x, cos, sin)[0]


def text_table(rope, positions, x):
    """inv_freq, and cos and sin [seq, rotary_dim] with each pair's own axis."""
    inv_freq, cos, sin, sections = text_module(rope, positions, x)
    if cos.dim() == 3:
        return inv_freq, cos[0], sin[0]
    # The unit of a pair's first channel turns into its cosine and sine.
    half = rope["head_dim"] // 2
    unit = torch.cat((torch.ones(half), torch.zeros(half))).to(x.dtype).expand(1, 1, positions.shape[1], -1)
    turned = turned_by(unit, cos, sin, sections)
    return inv_freq, turned[0, 0, :, :half], turned[0, 0, :, half:]


def vision_table(rope, positions, x):
    """The same of the vision tower, whose inv_freq serves rows and columns."""
    axes_of(rope, "axial")
    if hasattr(models, VISION + "RotaryEmbedding") and "config" in inspect.signature(
            getattr(models, VISION + "RotaryEmbedding").__init__).parameters:
        width = {"hidden_size": HEADS * rope["head_dim"], "num_heads": HEADS,
                 "rope_parameters": {"rope_type": "axial", "rope_theta": rope["base"]}}
        if options.model == "qwen2_vl":
            width["embed_dim"] = width["hidden_size"]
        module = getattr(models, VISION + "RotaryEmbedding")(getattr(configs, VISION + "Config")(**width))
        cos, sin = module(x, positions.T.contiguous())
        return module.inv_freq.repeat(2), cos.reshape(-1, cos.shape[-1]), sin.reshape(-1, sin.shape[-1])
    # Before 5, the tower looked rows and columns up in the module's angles and took their cosines itself.
    names = (VISION + "RotaryEmbedding", "VisionRotaryEmbedding", "Qwen2_5_VisionRotaryEmbedding")
    module = getattr(models, next(name for name in names if hasattr(models, name)))(rope["head_dim"] // 2, rope["base"])
    angles = module(int(positions.max()) + 1)[positions.T].flatten(1)
    doubled = torch.cat((angles, angles), dim=-1)
    return module.inv_freq.repeat(2), doubled.cos(), doubled.sin()


def rope_of(request):
    rope = plain_rope({**request, "rope": {k: v for k, v in request["rope"].items() if k != "axes"}}, "half", True)
    return {**rope, "axes": request["rope"].get("axes")}


def rope_table(request):
    rope = rope_of(request)
    positions = read(request["inputs"])["positions"]
    dtype = DTYPES[request["dtype"]]
    with torch.no_grad():
        x = torch.zeros(1, 1, 1, dtype=dtype)  # only its dtype and device are looked at
        inv_freq, cos, sin = (vision_table if options.vision else text_table)(rope, positions, x)
    if cos.dtype != dtype:
        raise NotImplementedError(f"its table is {cos.dtype} whatever the dtype of the activations")
    pairs = rope["rotary_dim"] // 2
    write(request["outputs"], {"inv_freq": inv_freq, "cos": cos[:, :pairs], "sin": sin[:, :pairs]})


def rope_apply(request):
    if options.vision:
        raise NotImplementedError("of the vision tower its table only")
    tensors = read(request["inputs"])
    refuse_table(tensors)
    with torch.no_grad():
        x = torch.zeros(1, 1, 1, dtype=DTYPES[request["dtype"]])
        _, cos, sin, sections = text_module(rope_of(request), tensors["positions"], x)
    rotate(request, lambda _, x, __: turned_by(x.transpose(1, 2), cos, sin, sections).transpose(1, 2))


serve(f"transformers-{options.model}", version_of("transformers"), {"rope_table": rope_table, "rope_apply": rope_apply},
      list(DTYPES))
