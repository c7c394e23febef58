#!/usr/bin/env python3
"""Meta's llama-models, whichever version is importable: precompute_freqs_cis and apply_rotary_emb of Llama 3."""
import sys
import types

from plain_python import serve
from rope_request import llama3_of, plain_rope, positions_of
from torch_tensors import DTYPES, import_alone, read, rotate, torch, version_of, write

# The model file asks for fairscale's parallel layers, which take no part in what is asked here.
for name in ("fairscale", "fairscale.nn", "fairscale.nn.model_parallel", "fairscale.nn.model_parallel.initialize",
             "fairscale.nn.model_parallel.layers"):
    sys.modules[name] = types.ModuleType(name)
for name in ("ColumnParallelLinear", "RowParallelLinear", "VocabParallelEmbedding"):
    setattr(sys.modules["fairscale.nn.model_parallel.layers"], name, None)
model = import_alone("llama_models.llama3.model", "llama_models", "llama_models.llama3")


def table(request, positions):
    """[seq, pairs], complex64."""
    rope = plain_rope(request, "interleaved", scales=True)
    scaling = llama3_of(rope)
    if scaling not in (None, [8, 1, 4, 8192]):
        raise NotImplementedError("its scaling is that of Llama 3.1, which is written into the code")
    needed = int(positions.max()) + 1
    return model.precompute_freqs_cis(rope["rotary_dim"], needed, rope["base"], scaling is not None)[positions]


def rope_table(request):
    if request["dtype"] != "float32":
        raise NotImplementedError("its table is float32 whatever the dtype of the activations")
    turns = table(request, positions_of(read(request["inputs"])))
    write(request["outputs"], {"cos": turns.real, "sin": turns.imag})


def rope_apply(request):
    tensors = read(request["inputs"])
    if request["rope"]["rotary_dim"] != request["rope"]["head_dim"]:
        raise NotImplementedError("only full rotary width")
    turns = table(request, positions_of(tensors))
    if "cos" in tensors:
        turns = torch.complex(tensors["cos"].float(), tensors["sin"].float())
    rotate(request, lambda _, x, __: model.apply_rotary_emb(x, x, turns)[0])


# It rotates in float32 whatever the dtype of the activations: nothing wider is claimed.
NARROW = [name for name in DTYPES if name != "float64"]
serve("llama-models", version_of("llama-models"), {"rope_table": rope_table, "rope_apply": rope_apply}, NARROW)
