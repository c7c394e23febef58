#!/usr/bin/env python3
"""Makes the dumps of this folder with the real packages: ./make.sh. README.md says what is in each."""
import pathlib
import sys

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parents[2] / "harness" / "adapters"))
from torch_tensors import torch, write


def transformers_cast():
    """A model that is cast as a whole, then meets a longer text than its table was built for."""
    from transformers import LlamaConfig, LlamaModel

    config = LlamaConfig(vocab_size=16, hidden_size=128, intermediate_size=64, num_hidden_layers=1,
                         num_attention_heads=2, max_position_embeddings=32)
    model = LlamaModel(config).to(torch.bfloat16)
    with torch.no_grad():
        model(torch.zeros(1, 320, dtype=torch.int64))
    config.to_json_file(here / "transformers-4.37.2-module-cast.config.json")
    kept = {name: buffer for name, buffer in model.named_buffers() if "rotary_emb" in name}
    write(here / "transformers-4.37.2-module-cast.safetensors", kept)


def transformers_good():
    """What LlamaRotaryEmbedding returns for float32 activations at positions that are spread over the context."""
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

    config = LlamaConfig(hidden_size=4096, num_attention_heads=32, max_position_embeddings=8192,
                         rope_parameters={"rope_type": "default", "rope_theta": 500000.0})
    module = LlamaRotaryEmbedding(config)
    positions = torch.tensor(sorted({round(8191 ** (i / 79)) for i in range(80)} | {0}))
    with torch.no_grad():
        cos, sin = module(torch.zeros(1, dtype=torch.float32), positions[None])
    config.to_json_file(here / "transformers-5.24.0.config.json")
    write(here / "transformers-5.24.0.safetensors",
          {"positions": positions, "inv_freq": module.inv_freq, "cos": cos, "sin": sin})


def rotary_embedding_torch():
    """The angles that rotate_queries_or_keys makes for bfloat16 queries, and their cos and sin, rounded to bfloat16."""
    from rotary_embedding_torch import RotaryEmbedding

    module = RotaryEmbedding(32)
    with torch.no_grad():
        angle = module(module.get_seq_pos(600, dtype=torch.bfloat16), seq_len=600)
    write(here / "rotary-embedding-torch-0.9.1-bfloat16.safetensors",
          {"cos": angle.cos().bfloat16(), "sin": angle.sin().bfloat16()})


{"transformers-4.37.2": transformers_cast, "transformers-5.24.0": transformers_good,
 "rotary-embedding-torch-0.9.1": rotary_embedding_torch}[sys.argv[1]]()
