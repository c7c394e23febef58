#!/usr/bin/env python3
"""ggml on the CPU, through a shared library: ggml_rope_ext.

--libraries FOLDER   where libggml-base.so and libggml-cpu.so are (default: those of the package libggml-python)
The table is what comes out when unit vectors are rotated: ggml has no function that gives it.
"""
import ctypes
import importlib.metadata
import importlib.util
import math
import pathlib
import sys

import numpy
from numpy_tensors import read, write
from plain_python import serve
from rope_request import llama3_of, plain_rope, positions_of, refuse_table

TYPES = {"float32": 0, "float16": 1}  # enum ggml_type
I32 = 26
MODES = {"interleaved": 0, "half": 2}  # GGML_ROPE_TYPE_NORMAL, GGML_ROPE_TYPE_NEOX


class InitParams(ctypes.Structure):
    _fields_ = [("mem_size", ctypes.c_size_t), ("mem_buffer", ctypes.c_void_p), ("no_alloc", ctypes.c_bool)]


def load():
    if "--libraries" in sys.argv:
        folder, version = pathlib.Path(sys.argv[sys.argv.index("--libraries") + 1]), "unknown"
    else:
        folder = pathlib.Path(importlib.util.find_spec("libggml").submodule_search_locations[0]) / "lib64"
        version = importlib.metadata.version("libggml-python")
    base = ctypes.CDLL(folder / "libggml-base.so.0", mode=ctypes.RTLD_GLOBAL)
    cpu = ctypes.CDLL(folder / "libggml-cpu.so.0", mode=ctypes.RTLD_GLOBAL)
    pointer, whole, real, size = ctypes.c_void_p, ctypes.c_int, ctypes.c_float, ctypes.c_int64

    def declare(library, name, result, *arguments):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments

    declare(base, "ggml_init", pointer, InitParams)
    declare(base, "ggml_free", None, pointer)
    declare(base, "ggml_new_tensor_1d", pointer, pointer, whole, size)
    declare(base, "ggml_new_tensor_4d", pointer, pointer, whole, size, size, size, size)
    declare(base, "ggml_get_data", pointer, pointer)
    for name in ("ggml_rope_ext", "ggml_rope_ext_back"):
        declare(base, name, pointer, pointer, pointer, pointer, pointer, whole, whole, whole, *[real] * 6)
    declare(base, "ggml_new_graph", pointer, pointer)
    declare(base, "ggml_build_forward_expand", None, pointer, pointer)
    declare(cpu, "ggml_graph_compute_with_ctx", whole, pointer, pointer, whole)
    return base, cpu, version


base, cpu, VERSION = load()
cpu.ggml_cpu_init()


def llama3_factors(rope):
    """What llama.cpp's converter stores for Llama 3: what each pair's frequency is divided by, [pairs] float32."""
    import torch  # the converter's arithmetic: tensors without dimensions

    factor, low, high, length = llama3_of(rope)
    frequencies = 1.0 / (rope["base"] ** (torch.arange(0, rope["rotary_dim"], 2, dtype=torch.float32) / rope["rotary_dim"]))
    factors = []
    for frequency in frequencies:
        wavelength = 2 * math.pi / frequency
        smooth = (length / wavelength - low) / (high - low)
        blend = 1 / ((1 - smooth) / factor + smooth)
        factors.append(1 if wavelength < length / high else factor if wavelength > length / low else blend)
    return numpy.array([float(one) for one in factors], numpy.float32)


def scaled(rope):
    """The scaling as llama.cpp asks for it: frequency factors or None, original length, scale, extrapolation, amplitude."""
    scaling = rope.get("scaling") or {"type": "default"}
    kind, factor = scaling["type"], numpy.float32(scaling.get("factor") or 1)
    if kind == "default":
        return None, 0, 1.0, 0.0, 1.0
    if kind == "llama3":
        return llama3_factors(rope), 0, 1.0, 0.0, 1.0
    if kind == "linear":
        return None, 0, float(1 / factor), 0.0, 1.0
    original = int(scaling.get("original_max_position_embeddings") or 0)
    if kind == "longrope":
        longest, length = scaling.get("max_position_embeddings") or original * factor, scaling.get("length") or 0
        amplitude = math.sqrt(1 + math.log(longest / original) / math.log(original)) if longest > original else 1.0
        factors = scaling["long_factor" if length > original else "short_factor"]
        return numpy.array(factors, numpy.float32), 0, 1.0, 0.0, scaling.get("attention_factor") or amplitude
    if kind != "yarn" or scaling.get("attention_factor") is not None or scaling.get("truncate") is False:
        raise NotImplementedError(f"no scaling {kind} here, or not with these settings")

    def mscale(multiple):
        return numpy.float32(0.1) * numpy.float32(multiple) * numpy.log(factor) + numpy.float32(1)

    several = scaling.get("mscale") and scaling.get("mscale_all_dim")
    amplitude = mscale(scaling["mscale"]) / mscale(scaling["mscale_all_dim"]) if several else mscale(1)
    # rope_yarn multiplies by 1 + 0.1 ln(factor) itself; llama.cpp takes that back beforehand.
    return None, original, float(1 / factor), 1.0, float(amplitude * (1 / mscale(1)))


def turn(rope, x, positions, layout, function="ggml_rope_ext"):
    """x [batch, seq, heads, dim]: the same bytes as a ggml tensor of sizes dim, heads, seq, batch."""
    factors, original, scale, extrapolation, amplitude = scaled(rope)
    beta_fast, beta_slow = ((rope.get("scaling") or {}).get(name) for name in ("beta_fast", "beta_slow"))
    context = base.ggml_init(InitParams(4 * x.nbytes + 4 * len(positions) + (1 << 24), None, False))
    a = base.ggml_new_tensor_4d(context, TYPES[x.dtype.name], *reversed(x.shape))
    places = base.ggml_new_tensor_1d(context, I32, len(positions))
    x, indices = numpy.ascontiguousarray(x), positions.astype(numpy.int32)
    ctypes.memmove(base.ggml_get_data(a), x.ctypes.data, x.nbytes)
    ctypes.memmove(base.ggml_get_data(places), indices.ctypes.data, indices.nbytes)
    divisors = None
    if factors is not None:
        divisors = base.ggml_new_tensor_1d(context, TYPES["float32"], len(factors))
        ctypes.memmove(base.ggml_get_data(divisors), factors.ctypes.data, factors.nbytes)
    y = getattr(base, function)(context, a, places, divisors, rope["rotary_dim"], MODES[layout], original, rope["base"],
                                scale, extrapolation, amplitude, beta_fast or 32.0, beta_slow or 1.0)
    graph = base.ggml_new_graph(context)
    base.ggml_build_forward_expand(graph, y)
    if cpu.ggml_graph_compute_with_ctx(context, graph, 1) != 0:
        raise RuntimeError("ggml could not compute the graph")
    result = numpy.empty_like(x)
    ctypes.memmove(result.ctypes.data, base.ggml_get_data(y), x.nbytes)
    base.ggml_free(context)
    return result


def rope_table(request):
    rope = plain_rope(request, scales=True)
    positions = positions_of(read(request["inputs"]))
    pairs = rope["rotary_dim"] // 2
    units = numpy.zeros((1, len(positions), 1, 2 * pairs), request["dtype"])
    units[..., :pairs] = 1  # (1, 0) becomes (cos, sin): 1 * cos and 0 * sin are exact
    turned = turn(rope, units, positions, "half")[0, :, 0]
    write(request["outputs"], {"cos": turned[:, :pairs], "sin": turned[:, pairs:]})


def rope_apply(request):
    rope, tensors = plain_rope(request, scales=True), read(request["inputs"])
    refuse_table(tensors)
    positions, outputs = positions_of(tensors), {}
    for name in ("q", "k"):
        if name in tensors:
            outputs[f"rotated_{name}"] = turn(rope, tensors[name], positions, rope["layout"])
        if f"grad_rotated_{name}" in tensors:
            outputs[f"grad_{name}"] = turn(rope, tensors[f"grad_rotated_{name}"], positions, rope["layout"],
                                           "ggml_rope_ext_back")
    write(request["outputs"], outputs)


serve("ggml", VERSION, {"rope_table": rope_table, "rope_apply": rope_apply}, TYPES)
