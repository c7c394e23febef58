"""What the adapters of transformers share: a model's classes, and its configuration, in whichever version is importable."""
import importlib
import os

from torch_tensors import torch, version_of

# model -> where the names of its classes begin
CLASSES = {"llama": "Llama", "gpt_neox": "GPTNeoX", "gemma": "Gemma", "qwen2": "Qwen2", "phi": "Phi",
           "cohere": "Cohere", "glm": "Glm", "gptj": "GPTJ", "phi3": "Phi3", "qwen3": "Qwen3", "gemma2": "Gemma2",
           "gpt_oss": "GptOss", "llama4": "Llama4Text", "deepseek_v2": "DeepseekV2", "deepseek_v3": "DeepseekV3"}
HEADS = 2
os.environ["HF_HUB_OFFLINE"] = "1"


def files_of(model):
    """Its module of models and its module of configurations."""
    try:
        return [importlib.import_module(f"transformers.models.{model}.{kind}_{model}")
                for kind in ("modeling", "configuration")]
    except ModuleNotFoundError as missing:
        raise SystemExit(f"transformers {version_of('transformers')} has no model {model}: {missing}")


class Model:
    """One of CLASSES: its file, its rotary module, its configuration."""

    def __init__(self, name):
        self.name = name
        self.file, configurations = files_of(name)
        self.Config = getattr(configurations, CLASSES[name] + "Config")
        self.Rotary = getattr(self.file, CLASSES[name] + "RotaryEmbedding", None) or sinusoids_of(self.file)

    def config(self, rope, length):
        """What config.json of such a model says. Every version takes what it knows of it."""
        width, base, share = rope["head_dim"], rope["base"], rope["partial_rotary_factor"]
        settings = {"hidden_size": HEADS * width, "num_attention_heads": HEADS, "head_dim": width,
                    "max_position_embeddings": length, "rope_theta": base}
        if self.name == "gptj":
            if rope.get("scaling") or base != 10000:
                raise NotImplementedError("its base is 10000, without scaling")
            return self.Config(n_embd=HEADS * width, n_head=HEADS, n_positions=length, rotary_dim=rope["rotary_dim"])
        if self.name in ("deepseek_v2", "deepseek_v3"):
            settings["qk_rope_head_dim"] = width
        if self.name == "gpt_neox":
            settings.update(rotary_pct=share, rotary_emb_base=base)
        elif share != 1 or self.name in ("phi", "glm"):
            settings["partial_rotary_factor"] = share
        if rope.get("scaling"):
            settings.update(self.scaling(rope, length))
            known = getattr(importlib.import_module("transformers.modeling_rope_utils"), "ROPE_INIT_FUNCTIONS")
            if rope["scaling"]["type"] not in known:
                raise NotImplementedError(f"this version has no scaling {rope['scaling']['type']}")
        return self.Config(**settings)

    def scaling(self, rope, length):
        """What config.json says of the request's scaling, and of the lengths that go with it."""
        given = {name: value for name, value in rope["scaling"].items() if value is not None}
        kind = given["type"]
        trained = given.get("original_max_position_embeddings")
        longest = given.get("max_position_embeddings") or (trained or 0) * given.get("factor", 1) or length
        settings = {"max_position_embeddings": int(longest)}
        for name in ("type", "max_position_embeddings", "length"):
            given.pop(name, None)
        if kind == "longrope":  # the factor is the ratio of the two lengths, and only without them the one that is written
            settings["original_max_position_embeddings"] = int(trained)
            if rope["scaling"].get("max_position_embeddings"):
                given.pop("factor", None)
        if kind == "proportional":
            given["partial_rotary_factor"] = given.pop("proportion")
        if self.name == "phi3" and hasattr(self.Config, "_rope_scaling_validation"):  # three fields, and not one more
            lists = {name: given[name] for name in ("short_factor", "long_factor")}
            return {**settings, "rope_scaling": {"type": kind, **lists}}
        if trained:
            given["original_max_position_embeddings"] = int(trained)
        return {**settings, "rope_scaling": {"rope_type": kind, "type": kind, **given}}


def sinusoids_of(file):
    """GPT-J before version 5: a table that its attention indexes, in the dtype that it was made in."""

    class Sinusoids(torch.nn.Module):
        def __init__(self, config):
            super().__init__()
            self.rows = file.create_sinusoidal_positions(config.n_positions, config.rotary_dim)

        def forward(self, _, position_ids):
            return self.rows[position_ids].chunk(2, -1)

    return Sinusoids
