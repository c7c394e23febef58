#!/usr/bin/env python3
"""Writes a config.json for each model of facts.json, in the words of its model_type: only what bears on the rotation
and on attention. facts.json says how each model turns, the files say it as the models do."""
import json
import pathlib

HERE = pathlib.Path(__file__).parent
SINCE_5 = {"gpt_oss", "qwen3_vl", "gemma4_text", "llama4"}  # rope_parameters; the others have rope_theta and rope_scaling
STATES_HEAD_DIM = {"gemma", "gemma2", "gemma3", "gemma3_text", "gemma4_text", "gpt_oss", "qwen3", "qwen3_moe", "qwen3_vl",
                   "glm", "llama4"}


def widths(m):
    if m["model_type"] == "gptj":
        return {"n_embd": m["head_dim"] * m["heads"], "n_head": m["heads"], "rotary_dim": m["rotary_dim"]}
    out = {"num_attention_heads": m["heads"]}
    if "qk_nope_head_dim" in m:
        return out | {"qk_nope_head_dim": m["qk_nope_head_dim"], "qk_rope_head_dim": m["head_dim"]}
    if m["model_type"] in STATES_HEAD_DIM:
        out["head_dim"] = m["head_dim"]
    else:
        out["hidden_size"] = m["head_dim"] * m["heads"]
    share = m["rotary_dim"] / m["head_dim"]
    if m["model_type"] == "gpt_neox":
        out["rotary_pct"] = share
    elif share != 1:
        out["partial_rotary_factor"] = share
    return out


def key_heads(m):
    if m["model_type"] == "falcon":
        new = m["kv_heads"] != 1
        return {"new_decoder_architecture": new, "multi_query": True} | ({"num_kv_heads": m["kv_heads"]} if new else {})
    return {} if m["model_type"] in ("gptj", "gpt_neox") else {"num_key_value_heads": m["kv_heads"]}


def rope(m):
    kind, scaling = m["model_type"], dict(m.get("scaling") or {})
    if kind == "gptj":
        return {}
    if kind == "gpt_neox":
        return {"rotary_emb_base": m["theta"]}
    if kind == "gemma4_text":
        return {"rope_parameters": {
            "sliding_attention": {"rope_type": "default", "rope_theta": m["theta_local"]},
            "full_attention": scaling | {"rope_theta": m["theta"]}}}
    if kind in SINCE_5:
        return {"rope_parameters": {"rope_type": "default"} | scaling | {"rope_theta": m["theta"]}}
    out = {"rope_theta": m["theta"], "rope_scaling": scaling or None}
    if "theta_local" in m:
        out["rope_local_base_freq"] = m["theta_local"]
    if not scaling:
        return out
    if kind == "phi3":
        out["original_max_position_embeddings"] = scaling.pop("original_max_position_embeddings")
    if kind in ("qwen2_vl", "deepseek_v2", "deepseek_v3", "phi3") or m["name"].startswith("Yarn"):  # as before 4.43
        scaling["type"] = scaling.pop("rope_type")
    if kind == "qwen2_vl":
        scaling["type"] = "mrope"
    return out


def rest(m):
    names = {"window": "sliding_window", "softcap": "attn_logit_softcapping"}
    return {names.get(key, key): m[key]
            for key in ("window", "softcap", "query_pre_attn_scalar", "attention_chunk_size", "global_head_dim") if key in m}


def config(m):
    kind = m["model_type"]
    positions = {"n_positions" if kind == "gptj" else "max_position_embeddings": m["max_position"]}
    text = widths(m) | key_heads(m) | positions | rope(m) | rest(m)
    if kind in ("gemma3", "qwen3_vl", "llama4"):
        return {"model_type": kind, "text_config": {"model_type": kind + "_text"} | text}
    return {"model_type": kind} | text


def main():
    for model in json.loads((HERE / "facts.json").read_text()):
        text = json.dumps(config(model), indent=1)
        (HERE / f"{model['name']}.json").write_text(text + "\n")


main()
