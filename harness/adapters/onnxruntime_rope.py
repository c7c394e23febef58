#!/usr/bin/env python3
"""ONNX Runtime on the CPU, whichever version is importable: the RotaryEmbedding operator of opset 23.

It takes its table from outside, so it answers rope_apply with cos and sin only.
--reference   onnx's own evaluator instead
--table       where the request has no table, the one that transformers 5.24 makes, by PyTorch
"""
import sys

import numpy
import onnx
import onnxruntime
from numpy_tensors import NAMES, read, write
from onnx import TensorProto, helper
from plain_python import serve
from rope_request import plain_rope, positions_of

TYPES = {"float32": TensorProto.FLOAT, "float16": TensorProto.FLOAT16}
REFERENCE = "--reference" in sys.argv
TABLE = "--table" in sys.argv


def turn(rope, x, cos, sin):
    """x [batch, seq, heads, dim]; the operator wants heads first. Tables [seq, pairs], in x's dtype."""
    kind = next(t for name, t in TYPES.items() if x.dtype == name)
    node = helper.make_node("RotaryEmbedding", ["x", "cos", "sin", "positions"], ["y"],
                            interleaved=int(rope["layout"] == "interleaved"), rotary_embedding_dim=rope["rotary_dim"])
    inputs = [helper.make_tensor_value_info(name, kind, None) for name in ("x", "cos", "sin")]
    inputs.append(helper.make_tensor_value_info("positions", TensorProto.INT64, None))
    graph = helper.make_graph([node], "rope", inputs, [helper.make_tensor_value_info("y", kind, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11)
    places = numpy.broadcast_to(numpy.arange(x.shape[1]), x.shape[:2])
    feeds = {"x": numpy.ascontiguousarray(x.transpose(0, 2, 1, 3)), "cos": cos, "sin": sin,
             "positions": numpy.ascontiguousarray(places)}
    if REFERENCE:
        from onnx.reference import ReferenceEvaluator

        (y,) = ReferenceEvaluator(model).run(None, feeds)
    else:
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        (y,) = session.run(None, feeds)
    return y.transpose(0, 2, 1, 3)


def table_of(rope, positions):
    """cos and sin, [seq, pairs], float32."""
    import torch  # with --table only

    width = rope["rotary_dim"]
    inv_freq = 1.0 / (rope["base"] ** (torch.arange(0, width, 2, dtype=torch.float) / width))
    angle = torch.from_numpy(positions.copy()).float()[:, None] * inv_freq
    return {"cos": angle.cos().numpy(), "sin": angle.sin().numpy()}


def rope_apply(request):
    rope, tensors = plain_rope(request), read(request["inputs"])
    if TABLE and "cos" not in tensors:
        tensors.update(table_of(rope, positions_of(tensors)))
    if "cos" not in tensors:
        raise NotImplementedError("the operator takes its table from outside, and none was given")
    dtype = tensors["q"].dtype
    cos, sin = tensors["cos"].astype(dtype), tensors["sin"].astype(dtype)
    write(request["outputs"], {f"rotated_{name}": turn(rope, tensors[name], cos, sin) for name in ("q", "k")
                               if name in tensors})


name, version = ("onnx-reference", onnx.__version__) if REFERENCE else ("onnxruntime", onnxruntime.__version__)
serve(name, version, {"rope_apply": rope_apply}, TYPES)
