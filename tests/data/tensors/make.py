#!/usr/bin/env python3
"""Writes the tensor files beside it, with the libraries whose formats they are (numpy 2.4.6, ml_dtypes 0.6.0, torch 2.15.0, safetensors 0.8.0).

Element i of every tensor, counted row by row, is i - 2 (bool: i is odd; uint8: i; complex: i - 2 + 1j), so that tests
need no other copy of the values. (But for the tables.)
"""
import collections
import io
import os
import pickle
import zipfile

import ml_dtypes
import numpy
import safetensors.torch
import torch

os.chdir(os.path.dirname(os.path.abspath(__file__)))


def values(dtype, shape):
    count = int(numpy.prod(shape, dtype=int))
    i = numpy.arange(count)
    flat = i % 2 == 1 if dtype == "bool" else i if dtype == "uint8" else i - 2 + (1j if dtype == "complex64" else 0)
    return flat.astype(dtype).reshape(shape)


# NumPy
for version in [1, 2, 3]:
    with open(f"version{version}.npy", "wb") as file:
        numpy.lib.format.write_array(file, values("float32", (2, 3)), version=(version, 0))
numpy.save("fortran.npy", numpy.asfortranarray(values("float64", (2, 3, 4))))
numpy.save("big_endian.npy", values("int32", (2, 3)).astype(">i4"))
numpy.save("big_endian_fortran.npy", numpy.asfortranarray(values("complex64", (2, 3)).astype(">c8")))
numpy.save("scalar.npy", values("float32", ()))
numpy.save("empty.npy", values("int64", (0, 3)))
numpy.save("objects.npy", numpy.array([{"a": 1}, None], dtype=object), allow_pickle=True)
numpy.save("structures.npy", numpy.zeros(2, dtype=[("a", "<f4"), ("b", "<i4")]))
numpy.save("texts.npy", numpy.array(["a", "bc"]))
numpy.save("bfloat16.npy", values("int32", (4,)).astype(ml_dtypes.bfloat16))
arrays = {name: values(name, (2, 3)) for name in ["float64", "float32", "float16", "int64", "int32", "int16", "int8",
                                                  "uint8", "bool", "complex64"]}
numpy.savez("stored.npz", **arrays)
numpy.savez_compressed("deflated.npz", **arrays)


# PyTorch
def tensor(dtype, shape):
    name = {"float8_e4m3fn": "float32", "float8_e5m2": "float32", "bfloat16": "float32"}.get(dtype, dtype)
    return torch.from_numpy(values(name, shape)).to(getattr(torch, dtype))


dtypes = ["float64", "float32", "bfloat16", "float16", "int64", "int32", "int16", "int8", "uint8", "bool", "complex64",
          "float8_e4m3fn", "float8_e5m2"]
shared = tensor("float32", (2, 3))
state = {
    "dtypes": {name: tensor(name, (2, 3)) for name in dtypes},
    "transposed": tensor("float32", (3, 2)).T.contiguous().T,
    "permuted": tensor("float16", (2, 3, 4)).permute(2, 0, 1).contiguous().permute(1, 2, 0),
    "tail": torch.cat([torch.zeros(5), tensor("float32", (2, 3)).flatten()])[5:].view(2, 3),
    "every_second": torch.stack([tensor("float32", (6,)), torch.zeros(6)], 1)[:, 0],
    "repeated": torch.tensor([-2.0, -1.0, 0.0]).expand(4, 3),
    "shared": [shared, shared[1:], shared],
    "scalar": tensor("float32", ()),
    "empty": tensor("float32", (0, 3)),
    "parameter": torch.nn.Parameter(tensor("float32", (2, 3))),
    7: tensor("float32", (1,)),
    "step": 3, "large": 1 << 40, "negative": -5, "rate": 0.5, "on": True, "note": "no tensor", "nothing": None, "pair": (1, 2),
}
torch.save(state, "state.pt")
torch.save(state, "protocol4.pt", pickle_protocol=4)
torch.save(state, "protocol5.pt", pickle_protocol=5)
torch.save(tensor("float32", (2, 3)), "lone.pt")
torch.manual_seed(0)
module = torch.nn.Sequential(collections.OrderedDict(inner=torch.nn.Linear(3, 2)))
with torch.no_grad():
    module.inner.weight.copy_(tensor("float32", (2, 3)))
    module.inner.bias.copy_(tensor("float32", (2,)))
torch.save(module.state_dict(), "module.pt")
torch.save({"w": tensor("float32", (2, 3))}, "before_1.6.pt", _use_new_zipfile_serialization=False)
torch.save({"w": tensor("float32", (2, 3)).to_sparse()}, "sparse.pt")
torch.save(module, "whole_module.pt")


# A table of 2 pairs, 8 positions, base 10000, for tests/data/cases/files.json.
angle = numpy.outer(numpy.arange(8.0), [1.0, 0.01])
cos, sin = numpy.cos(angle).astype("float32"), numpy.sin(angle).astype("float32")
numpy.savez_compressed("table.npz", cos=cos, sin=sin)
numpy.save("cos.npy", numpy.concatenate([cos, cos], 1)[None])
torch.save({"rope": {"cos": torch.from_numpy(cos), "sin": torch.from_numpy(-sin)}}, "negative_sin.pt")

# safetensors
safetensors.torch.save_file({name: tensor(name, (2, 3)) for name in dtypes if name != "complex64"}, "dtypes.safetensors",
                            {"made by": "make.py"})


class Evil:
    def __reduce__(self):
        return os.system, ("touch /tmp/ropewalk-was-here",)


torch.save({"w": tensor("float32", (2, 3)), "x": Evil()}, "code.pt")
torch.save({"w": tensor("float32", (2, 3)), "x": Evil()}, "code4.pt", pickle_protocol=4)
