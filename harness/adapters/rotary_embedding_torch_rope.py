#!/usr/bin/env python3
"""rotary-embedding-torch, whichever version is importable: RotaryEmbedding and rotate_queries_or_keys.

The table is what comes out when unit vectors are rotated: the package's own cos and sin are inside that function.
"""
from plain_python import serve
from rope_request import plain_rope, positions_of, refuse_table
from rotary_embedding_torch import RotaryEmbedding
from torch_tensors import DTYPES, read, rotate, torch, version_of, write


def turn_all(rope, x):
    """x [batch, heads, tokens, dim], a token at each position from 0 on."""
    return RotaryEmbedding(rope["rotary_dim"], theta=rope["base"]).rotate_queries_or_keys(x)


def rope_table(request):
    rope, dtype = plain_rope(request), DTYPES[request["dtype"]]
    positions = positions_of(read(request["inputs"]))
    units = torch.zeros(1, 1, int(positions.max()) + 1, rope["rotary_dim"], dtype=dtype)
    units[..., ::2] = 1  # (1, 0) in each pair becomes (cos, sin): 1 * cos and 0 * sin are exact
    with torch.no_grad():
        turned = turn_all(rope, units)[0, 0, positions]
        module = RotaryEmbedding(rope["rotary_dim"], theta=rope["base"])
        steps = module.get_seq_pos(units.shape[2], dtype=dtype)
        angle = module(steps)[positions, ::2]
    write(request["outputs"], {"inv_freq": module.freqs, "angle": angle, "cos": turned[:, ::2], "sin": turned[:, 1::2]})


def rope_apply(request):
    rope = plain_rope(request, "interleaved")
    tensors = read(request["inputs"])
    positions = positions_of(tensors)
    refuse_table(tensors)

    def turn(_, x, __):  # the package takes no positions, so all up to the last one are rotated
        spread = torch.zeros(x.shape[0], x.shape[2], int(positions.max()) + 1, x.shape[3], dtype=x.dtype)
        spread = spread.index_copy(2, positions, x.transpose(1, 2))
        return turn_all(rope, spread)[:, :, positions].transpose(1, 2)

    rotate(request, turn)


serve("rotary-embedding-torch", version_of("rotary-embedding-torch"), {"rope_table": rope_table, "rope_apply": rope_apply},
      DTYPES)
