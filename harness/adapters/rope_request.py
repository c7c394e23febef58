"""What adapters share that look at the rope block of a request, or can only be asked to rotate."""


def plain_rope(request, layout=None, scales=False):
    """The request's rope block, if it holds no more than width and base; what is more is refused by its name.

    layout: the only one that the package rotates in; None if it takes both. scales: the adapter looks at rope.scaling."""
    rope = request["rope"]
    known = {"head_dim", "rotary_dim", "base", "partial_rotary_factor", "layout"} | ({"scaling"} if scales else set())
    for name in sorted(set(rope) - known):
        if rope[name] not in (None, "default"):
            raise NotImplementedError(f"this adapter does not know rope.{name}")
    if layout and request["op"] == "rope_apply" and rope.get("layout", layout) != layout:
        raise NotImplementedError(f"only the {layout} layout")
    return rope


def llama3_of(rope):
    """factor, low_freq_factor, high_freq_factor and the original length; None without scaling, else refused."""
    scaling = rope.get("scaling")
    if scaling and scaling["type"] != "llama3":
        raise NotImplementedError(f"no scaling {scaling['type']} here")
    names = ("factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings")
    return scaling and [scaling[name] for name in names]


def positions_of(tensors):
    """[seq] int64."""
    if len(tensors["positions"].shape) != 1:
        raise NotImplementedError("one position for each token only")
    return tensors["positions"]


def refuse_table(tensors):
    """For packages that make the table themselves, at each rotation."""
    if "cos" in tensors:
        raise NotImplementedError("it takes no table from outside")
