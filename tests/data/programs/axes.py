#!/usr/bin/env python3
"""A table of positions on several axes in double arithmetic: right, or wrong in the way that its argument names.

right
exchanged  the last two axes are taken for one another
restarts   the exponents begin anew with each section of M-RoPE, or do not begin anew in the second half of axial ones
rounded    cosines and sines have 20 significant bits, four less than float32
"""
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "harness" / "adapters"))
import plain_python

wrong = sys.argv[1]


def pairs_of(rope):
    """The axis of each pair, and the exponent of its frequency."""
    width, axes = rope["rotary_dim"], rope["axes"]
    pairs = range(width // 2)
    if axes["type"] == "axial":
        anew = 1 if wrong == "restarts" else 2
        return [(j // (width // 4), anew * 2 * (j % (width // 4)) / width) for j in pairs]
    sections = axes["mrope_section"]
    blocks = [(a, j) for a, section in enumerate(sections) for j in range(section)]
    turns = [j % 3 if j < 3 * sections[j % 3] else 0 for j in pairs]
    axis = turns if axes["mrope_interleaved"] else [a for a, _ in blocks]
    return [(axis[j], 2 * (blocks[j][1] if wrong == "restarts" else j) / width) for j in pairs]


def delivered(x):
    if wrong != "rounded" or x == 0:
        return x
    step = math.ldexp(1.0, math.frexp(x)[1] - 20)
    return round(x / step) * step


def rope_table(request):
    rope, dtype = request["rope"], request["dtype"]
    pairs = pairs_of(rope)
    axes = 2 if rope["axes"]["type"] == "axial" else len(rope["axes"]["mrope_section"])
    flat = plain_python.read_tensor(request["inputs"], "positions")
    rows = len(flat) // axes
    if wrong == "exchanged":
        pairs = [(a if a < axes - 2 else 2 * axes - 3 - a, e) for a, e in pairs]
    inv_freq = [rope["base"] ** -e for _, e in pairs]
    angle = [flat[a * rows + i] * f for i in range(rows) for (a, _), f in zip(pairs, inv_freq)]
    shape = [rows, len(pairs)]
    plain_python.write_tensors(request["outputs"], {
        "inv_freq": ("float64", [len(pairs)], inv_freq), "angle": ("float64", shape, angle),
        "cos": (dtype, shape, [delivered(math.cos(a)) for a in angle]), "sin": (dtype, shape, [delivered(math.sin(a)) for a in angle])})


plain_python.serve("axes", "1", {"rope_table": rope_table}, plain_python.FORMATS)
