#!/usr/bin/env python3
"""A rope table by plain Python: every value in double arithmetic, cos and sin rounded once to the dtype asked for.

Nothing but the standard library is needed. Other adapters may import from here: serve() speaks the line protocol
(docs/protocol.md), read_tensor() and write_tensors() the files that the tensors travel in.
"""
import json
import math
import struct
import sys

# dtype -> (its name in a safetensors file, how struct packs one element)
FORMATS = {"float64": ("F64", "d"), "float32": ("F32", "f"), "float16": ("F16", "e"), "bfloat16": ("BF16", None)}


def bfloat16_bits(x):
    """One rounding from double to 8 significant bits, ties to even. (Through float32 it would be two.)"""
    if x != 0 and math.isfinite(x):
        step = math.ldexp(1.0, max(math.frexp(x)[1] - 8, -133))  # spacing of bfloat16 numbers at x
        x = math.copysign(round(x / step) * step, x)
    return struct.pack("<f", x)[2:]  # exact now: the upper half of the float32


def encode(values, dtype):
    if dtype == "bfloat16":
        return b"".join(map(bfloat16_bits, values))
    return struct.pack(f"<{len(values)}{FORMATS[dtype][1]}", *values)


def read_tensor(path, name):
    """An int64 tensor from a safetensors file, as a flat list."""
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        entry = json.loads(file.read(length))[name]
        assert entry["dtype"] == "I64", entry
        begin, end = entry["data_offsets"]
        file.seek(8 + length + begin)
        return list(struct.unpack(f"<{(end - begin) // 8}q", file.read(end - begin)))


def write_tensors(path, tensors):
    """tensors: name -> (dtype, shape, flat list of floats)."""
    header, data = {}, b""
    for name, (dtype, shape, values) in tensors.items():
        packed = encode(values, dtype)
        header[name] = {"dtype": FORMATS[dtype][0], "shape": shape, "data_offsets": [len(data), len(data) + len(packed)]}
        data += packed
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def rope_table(request):
    rope, dtype = request["rope"], request["dtype"]
    if rope.get("scaling") or rope.get("axes"):
        raise NotImplementedError("it has neither scaled frequencies nor positions of several axes")
    pairs = rope["rotary_dim"] // 2
    positions = read_tensor(request["inputs"], "positions")
    inv_freq = [rope["base"] ** (-2 * i / rope["rotary_dim"]) for i in range(pairs)]
    angle = [position * frequency for position in positions for frequency in inv_freq]
    shape = [len(positions), pairs]
    # inv_freq and angle are given as they were used, in double: cos and sin are judged by the angle they came from.
    write_tensors(request["outputs"], {
        "inv_freq": ("float64", [pairs], inv_freq),
        "angle": ("float64", shape, angle),
        "cos": (dtype, shape, [math.cos(a) for a in angle]),
        "sin": (dtype, shape, [math.sin(a) for a in angle]),
    })


def serve(name, version, ops, dtypes):
    """Answers requests until stdin ends. ops: name -> function that takes the request and writes its outputs;
    what it returns, if anything, is added to the answer."""
    for line in sys.stdin:
        request = json.loads(line)
        answer = {"status": "ok", "id": request.get("id")}
        if request["op"] == "describe":
            answer = {"status": "ok", "protocol": 1, "name": name, "version": version, "ops": list(ops),
                      "dtypes": list(dtypes)}
        elif request["op"] not in ops:
            answer.update(status="unsupported", message=f"no op {request['op']}")
        else:
            try:
                answer.update(ops[request["op"]](request) or {})
            except NotImplementedError as reason:
                answer.update(status="unsupported", message=str(reason))
            except Exception as reason:
                answer.update(status="error", message=f"{type(reason).__name__}: {reason}")
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    serve("plain-python", "1", {"rope_table": rope_table}, FORMATS)
