#!/usr/bin/env python3
"""litgpt, whichever version is importable: its rope cache, apply_rope, and the padding of LoRAQKVLinear.

--materialise makes the LoRA layer on the meta device, looks at its index there, and then makes it real by to_empty or by
assignment of its parameters: what LoRAQKVLinear did to its index buffer (litgpt pull request 770)."""
import argparse
import inspect

from plain_python import serve
from rope_request import llama3_of, plain_rope, positions_of
from torch_tensors import DTYPES, import_alone, read, rotate, torch, version_of, write

PARSER = argparse.ArgumentParser()
PARSER.add_argument("--materialise", choices=["to_empty", "assign"])
OPTIONS = PARSER.parse_args()
model = import_alone("litgpt.model", "litgpt")
LAYOUT = "grouped" if version_of("litgpt").startswith(("0.2.", "0.3.", "0.4.")) else "contiguous"


def table(request, positions):
    """cos and sin, [seq, rotary_dim], always float32."""
    rope = plain_rope(request, "half", scales=True)
    scaling, more = rope.get("scaling"), {}
    if scaling and "extra_config" not in inspect.signature(model.build_rope_cache).parameters:
        raise NotImplementedError("this version has no scaling")
    if scaling and scaling["type"] == "linear":
        more["extra_config"] = {"factor": scaling["factor"]}
    elif scaling and scaling["type"] == "yarn":
        names = {"factor": "factor", "original_max_seq_len": "original_max_position_embeddings", "mscale": "mscale",
                 "mscale_all_dim": "mscale_all_dim"}
        more["extra_config"] = {theirs: scaling[ours] for theirs, ours in names.items() if scaling.get(ours) is not None}
        more["extra_config"].update(beta_fast=scaling.get("beta_fast") or 32, beta_slow=scaling.get("beta_slow") or 1,
                                    truncate=scaling.get("truncate") is not False)
    elif scaling:
        names = ("factor", "low_freq_factor", "high_freq_factor", "original_max_seq_len")
        more["extra_config"] = dict(zip(names, llama3_of(rope)))
    cos, sin = model.build_rope_cache(int(positions.max()) + 1, rope["rotary_dim"], base=rope["base"], **more)
    return cos[positions], sin[positions]


def rope_table(request):
    if request["dtype"] != "float32":
        raise NotImplementedError("its table is float32 whatever the dtype of the activations")
    cos, sin = table(request, positions_of(read(request["inputs"])))
    pairs = request["rope"]["rotary_dim"] // 2  # both halves are the same columns
    write(request["outputs"], {"cos": cos[:, :pairs], "sin": sin[:, :pairs]})


def rope_apply(request):
    tensors = read(request["inputs"])
    cos, sin = table(request, positions_of(tensors))
    if "cos" in tensors:
        cos, sin = (torch.cat((tensors[name], tensors[name]), -1) for name in ("cos", "sin"))
    width = request["rope"]["rotary_dim"]
    if LAYOUT == "contiguous":  # the versions with a batch axis in their tables
        cos, sin = cos[None], sin[None]

    def turn(_, x, __):  # as CausalSelfAttention does: heads first, the first channels only
        x = x.transpose(1, 2)
        return torch.cat((model.apply_rope(x[..., :width], cos, sin), x[..., width:]), -1).transpose(1, 2)

    rotate(request, turn)


def lora_layer(lora, tensors):
    """A LoRAQKVLinear that holds the request's tensors."""
    if lora["layout"] != LAYOUT:
        raise NotImplementedError(f"only the {LAYOUT} layout in this version")
    if lora["scale"] != "alpha/r":
        raise NotImplementedError("only the scale alpha/r")
    weight, bias = tensors["weight"], tensors.get("bias")
    from litgpt.lora import LoRAQKVLinear

    with torch.device("meta" if OPTIONS.materialise else "cpu"):
        layer = LoRAQKVLinear(weight.shape[1], weight.shape[0], lora["head_dim"], lora["heads"], lora["groups"], r=lora["r"],
                              lora_alpha=lora["alpha"], enable_lora=tuple(lora["enable"]), bias=bias is not None,
                              dtype=weight.dtype)
    if OPTIONS.materialise:
        layer.lora_ind  # the first look at it makes the buffer, where the weight is now
    if OPTIONS.materialise == "to_empty":
        layer.to_empty(device="cpu")
    if OPTIONS.materialise == "assign":
        for name, tensor in {"linear.weight": weight, "linear.bias": bias, **tensors}.items():
            owner, _, leaf = name.replace("lora_a", "lora_A").replace("lora_b", "lora_B").rpartition(".")
            if isinstance(getattr(layer.get_submodule(owner), leaf, None), torch.nn.Parameter):
                setattr(layer.get_submodule(owner), leaf, torch.nn.Parameter(tensor.clone()))
    layer.linear.weight.data = weight.clone()
    if bias is not None:
        layer.linear.bias.data = bias
    if any(lora["enable"]) and lora["r"] > 0:
        layer.lora_A.data, layer.lora_B.data = tensors["lora_a"], tensors["lora_b"]
    return layer


def tensors_of(layer):
    """Every parameter, buffer and plain tensor attribute, and where it is."""
    found = dict(layer.named_parameters())
    found.update(layer.named_buffers())
    for prefix, part in layer.named_modules():
        for name, value in vars(part).items():
            if isinstance(value, torch.Tensor):
                found[f"{prefix}.{name}".lstrip(".")] = value
    return [{"name": name, "device": tensor.device.type} for name, tensor in found.items()]


@torch.no_grad()
def before_padding(layer, x):
    """The steps of LoRAQKVLinear.forward up to the padding."""
    update = torch.nn.functional.linear(x, layer.lora_A)
    return layer.conv1d(update.transpose(-2, -1), layer.lora_B.unsqueeze(-1)).transpose(-2, -1)


def lora_pad(request):
    tensors = read(request["inputs"])
    layer = lora_layer(request["lora"], tensors)
    if OPTIONS.materialise:  # what initialisation left behind; nothing can be padded with it
        index = layer.lora_ind
        write(request["outputs"], {"lora_delta": before_padding(layer, tensors["x"]) * layer.scaling,
                                   "lora_index": None if index.is_meta else index})
        return {"module": tensors_of(layer)}
    x = tensors["x"].requires_grad_("grad_output" in tensors)
    output = layer(x)
    outputs = {"output": output}
    if "grad_output" in tensors:
        output.backward(tensors["grad_output"])
        outputs["grad_x"] = x.grad
    with torch.no_grad():
        if hasattr(layer, "lora_A"):
            if "grad_output" in tensors:
                outputs.update(grad_lora_a=layer.lora_A.grad, grad_lora_b=layer.lora_B.grad)
            update = before_padding(layer, x)  # it multiplies by the scale after padding, and so here
            outputs.update(lora_index=torch.as_tensor(layer.lora_ind), lora_delta=update * layer.scaling,
                           lora_padded=layer.zero_pad(update) * layer.scaling)
        module = tensors_of(layer)
        layer.merge()
        outputs["lora_merged"] = layer.linear.weight
    write(request["outputs"], outputs)
    return {"module": module}


if __name__ == "__main__":
    serve("litgpt", version_of("litgpt"), {"rope_table": rope_table, "rope_apply": rope_apply, "lora_pad": lora_pad},
          DTYPES)
