"""What adapters of PyTorch packages share: safetensors to and from torch tensors, the answer to rope_apply.

Nothing but torch is needed. Small packages are loaded without what they import for training (import_alone).
"""
import ctypes
import importlib
import importlib.metadata
import importlib.util
import json
import struct
import sys
import types

import torch

DTYPES = {"float64": torch.float64, "float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
NAMES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "I64": torch.int64}

torch.set_num_threads(1)


def read(path):
    """name -> tensor, of a safetensors file."""
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        data = bytearray(file.read())
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        flat = torch.empty(0) if begin == end else torch.frombuffer(data[begin:end], dtype=NAMES[entry["dtype"]])
        tensors[name] = flat.reshape(entry["shape"])
    return tensors


def write(path, tensors):
    """tensors: name -> tensor; None stands for what there is not, and is left out."""
    names = {dtype: name for name, dtype in NAMES.items()}
    header, data, offset = {}, [], 0
    for name, tensor in tensors.items():
        if tensor is None:
            continue
        tensor = tensor.detach().cpu().contiguous()
        packed = ctypes.string_at(tensor.data_ptr(), tensor.nbytes)  # without NumPy, bytes() would take one at a time
        header[name] = {"dtype": names[tensor.dtype], "shape": list(tensor.shape),
                        "data_offsets": [offset, offset + len(packed)]}
        offset += len(packed)
        data.append(packed)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(data))


def rotate(request, turn):
    """Answers rope_apply: turn(x) rotates q or k, [batch, seq, heads, dim]. Gradients where grad_rotated_* is given."""
    tensors = read(request["inputs"])
    outputs = {}
    for name in ("q", "k"):
        if name not in tensors:
            continue
        x = tensors[name].requires_grad_(f"grad_rotated_{name}" in tensors)
        rotated = turn(name, x, tensors)
        outputs[f"rotated_{name}"] = rotated
        if x.requires_grad:
            rotated.backward(tensors[f"grad_rotated_{name}"])
            outputs[f"grad_{name}"] = x.grad
    write(request["outputs"], outputs)


def version_of(distribution):
    return importlib.metadata.version(distribution)


def import_alone(module, *packages):
    """A module of a package whose __init__ files would import much that it does not need; they are left out."""
    for name in packages:
        spec = importlib.util.find_spec(name)
        package = types.ModuleType(name)
        package.__path__ = list(spec.submodule_search_locations)
        package.__spec__ = spec
        sys.modules[name] = package
    return importlib.import_module(module)
