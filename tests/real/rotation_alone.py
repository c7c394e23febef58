#!/usr/bin/env python3
"""The rotation of a package with its own sine and cosine (XLA's, MLX's), by the table that the package itself gives,
against the plain operations: in the dtype, each rounded, or in float32 with or without contraction.

rotation_alone.py COMMAND...   (script/real-python torch tests/real/rotation_alone.py script/real-python NAME ADAPTER)
Prints for each dtype and layout how many of how many configurations each form gives bit for bit; exits with 1 if none
gives them all.
"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "harness" / "adapters"))
from adapter import Adapter
from torch_tensors import DTYPES, torch

CONFIGURATIONS = json.loads(pathlib.Path(__file__).with_name("configurations.json").read_text())["rotations"]
POSITIONS = torch.arange(40)


def outputs(adapter, op, shape, dtype, layout, tensors):
    """None where the package cannot."""
    rope = {**shape, "partial_rotary_factor": shape["rotary_dim"] / shape["head_dim"], "layout": layout}
    got = adapter.outputs({"op": op, "rope": rope, "dtype": dtype}, tensors)
    if isinstance(got, str) and got.startswith("error"):
        raise SystemExit(got)
    return None if isinstance(got, str) else got


def fma(x, y, z):
    """Of float32: the product is exact in float64; that the sum is rounded twice shows once in 2^29."""
    return (x.double() * y.double() + z.double()).float()


FORMS = {
    "each operation rounded": lambda x, y, c, s: (x * c - y * s, y * c + x * s),
    "fma(x, c, -(y s)), fma(y, c, x s)": lambda x, y, c, s: (fma(x, c, -(y * s)), fma(y, c, x * s)),
    "fma(x, c, -(y s)), fma(x, s, y c)": lambda x, y, c, s: (fma(x, c, -(y * s)), fma(x, s, y * c)),
    "fma(-y, s, x c), fma(x, s, y c)": lambda x, y, c, s: (fma(-y, s, x * c), fma(x, s, y * c)),
    "fma(-y, s, x c), fma(y, c, x s)": lambda x, y, c, s: (fma(-y, s, x * c), fma(y, c, x * s)),
}


def rotated(form, x, cos, sin, layout, width, wide):
    """x [batch, seq, heads, dim], tables [seq, pairs]. wide: in float32, rounded once."""
    work = x.float() if wide else x
    cos, sin = (t.to(work.dtype)[None, :, None] for t in (cos, sin))
    places = (slice(0, width // 2), slice(width // 2, width))
    if layout == "interleaved":
        places = (slice(0, width, 2), slice(1, width, 2))
    out = work.clone()
    out[..., places[0]], out[..., places[1]] = form(*(work[..., place] for place in places), cos, sin)
    return out.to(x.dtype)


def main():
    adapter, every = Adapter(sys.argv[1:]), True
    print(f"{adapter.says['name']} {adapter.says['version']}")
    for dtype in adapter.says["dtypes"]:
        for layout in ("half", "interleaved"):
            counts, asked = {}, 0
            for shape in CONFIGURATIONS:
                shape = {name: shape[name] for name in ("head_dim", "rotary_dim", "base")}
                random = torch.Generator().manual_seed(1)
                x = torch.randn(1, len(POSITIONS), 4, shape["head_dim"], generator=random).to(DTYPES[dtype])
                got = outputs(adapter, "rope_apply", shape, dtype, layout, {"positions": POSITIONS, "q": x})
                if got is None:
                    continue
                asked += 1
                tables = {kind: outputs(adapter, "rope_table", shape, kind, layout, {"positions": POSITIONS})
                          for kind in {dtype, "float32"}}
                for kind, table in tables.items():
                    for wide in {dtype == "float32", True}:
                        for name, form in FORMS.items() if wide else [*FORMS.items()][:1]:
                            where = "float32" if wide else dtype
                            same = torch.equal(got["rotated_q"], rotated(form, x, table["cos"], table["sin"], layout,
                                                                         shape["rotary_dim"], wide))
                            key = f"table {kind}, in {where}, {name}"
                            counts[key] = counts.get(key, 0) + same
            best = {key: count for key, count in counts.items() if count == asked}
            every = every and (best or not asked)
            shown = best or dict(sorted(counts.items(), key=lambda entry: -entry[1])[:2])
            for key, count in shown.items():
                print(f"  {dtype} {layout}: {key}: {count} of {asked}", flush=True)
    return 0 if every else 1


sys.exit(main())
