"""What adapters of packages without PyTorch share: safetensors to and from NumPy arrays (bfloat16 by ml_dtypes)."""
import json
import struct

import numpy

NAMES = {"F64": numpy.dtype("float64"), "F32": numpy.dtype("float32"), "F16": numpy.dtype("float16"),
         "I64": numpy.dtype("int64")}
try:
    import ml_dtypes

    NAMES["BF16"] = numpy.dtype(ml_dtypes.bfloat16)
except ModuleNotFoundError:
    pass


def read(path):
    """name -> array, of a safetensors file."""
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        data = file.read()
    header.pop("__metadata__", None)
    return {name: numpy.frombuffer(data[slice(*entry["data_offsets"])], NAMES[entry["dtype"]]).reshape(entry["shape"])
            for name, entry in header.items()}


def write(path, tensors):
    names = {dtype: name for name, dtype in NAMES.items()}
    header, data = {}, b""
    for name, array in tensors.items():
        packed = numpy.ascontiguousarray(array).tobytes()
        header[name] = {"dtype": names[array.dtype], "shape": list(array.shape),
                        "data_offsets": [len(data), len(data) + len(packed)]}
        data += packed
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)
