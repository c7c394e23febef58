#!/usr/bin/env python3
"""A program that keeps something from call to call: cos is the number of calls so far that it has seen itself, sin the
length that it was told, inv_freq the length in the scaling."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "harness" / "adapters"))
import plain_python

seen = 0


def rope_call(request):
    global seen
    state, rope, dtype = request["state"], request["rope"], request["dtype"]
    if state["call"] == 0:
        seen = 0
    assert state["call"] == seen and state["built_for"] is None, state
    seen += 1
    rows, pairs = len(plain_python.read_tensor(request["inputs"], "positions")), rope["rotary_dim"] // 2
    plain_python.write_tensors(request["outputs"], {
        "inv_freq": ("float64", [pairs], [rope["scaling"]["length"]] * pairs),
        "cos": (dtype, [rows, pairs], [seen] * (rows * pairs)),
        "sin": (dtype, [rows, pairs], [state["lengths"][state["call"]]] * (rows * pairs))})


plain_python.serve("calls", "1", {"rope_call": rope_call}, plain_python.FORMATS)
