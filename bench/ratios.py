"""Reads what bench/run measured, prints single figures and ratios, and says which targets are missed.

Arguments: the file to write as JSON ('' for none), the version of mpmath ('' if it is not there), and a folder with
the files of each round: bench.N.json of Google Benchmark, mpmath.N.txt with nanoseconds for a pair.
"""

import json
import pathlib
import sys

TABLE = "table with all set-up, float32"
GRID_PAIRS = sum(d // 2 * p for d in (64, 256, 1024) for p in (1024, 2048, 4096)) * 3

# what, ours, theirs, how much of their time ours may take.
RATIOS = [
    (f"{TABLE}, summed over the grid / LibTorch", "table/grid", "libtorch/grid", 1.6),
    (f"{TABLE}, 131,072 positions / LibTorch", "table/long", "libtorch/long", 0.5),
    ("the grid's tables with yarn and its amplitude / without", "table/grid_yarn", "table/grid", 1.5),
    ("131,072 positions with yarn and its amplitude / without", "table/long_yarn", "table/long", 1.5),
    ("the same in float64 with tails / without", "table/tails_yarn", "table/tails", 1.5),
    ("a pair of it / MPFR, 128 bits", "table/long", "pair/mpfr", 1 / 500),
    ("a pair of it / Boost cpp_bin_float_50", "table/long", "pair/boost", 1 / 3000),
    ("a pair of it / mpmath, 50 digits", "table/long", "pair/mpmath", 1 / 3000),
    ("attention, tier 1, bf16 inputs / LibTorch fp32 SDPA", "attention/tier1_bf16", "attention/libtorch_fp32", 4.0),
    ("attention, tier 2, bf16 inputs / LibTorch fp32 SDPA", "attention/tier2_bf16", "attention/libtorch_fp32", 6.0),
    ("attention, tier 1 / __float128", "attention/tier1_bf16", "attention/float128", 1 / 500),
    ("attention, tier 1 / Boost cpp_bin_float_50", "attention/tier1_bf16", "attention/boost", 1 / 1000),
    ("attention, tier 2 / __float128", "attention/tier2_bf16", "attention/float128", 1 / 500),
    ("attention, tier 2 / Boost cpp_bin_float_50", "attention/tier2_bf16", "attention/boost", 1 / 1000),
    ("cuda-math's sinf below 1e5 / LibTorch", "sine/cuda_math", "sine/libtorch", 3.0),
]
GRID_LIMIT_MS = 150.0
LARGE = ["attention/large_tier1", "attention/large_tier2"]  # 32 heads, 4,096 keys, d 128, causal
LARGE_MULTIPLY_ADDS = 32 * (4096 * 4097 // 2) * 2 * 128
LARGE_LIMIT_S, LARGE_LIMIT_MB = 20.0, 2000.0


def read(folder):
    """The least nanoseconds for an item in any round, for each name; the most memory; what was skipped; the context."""
    least, peak, skipped, context = {}, {}, {}, None
    for path in sorted(folder.glob("bench.*.json")):
        measured = json.loads(path.read_text())
        context = context or measured["context"]
        for run in measured["benchmarks"]:
            name = run["run_name"].split("/iterations:")[0].removesuffix("/process_time")
            if run.get("error_occurred"):
                skipped[name] = run["error_message"]
            elif run["run_type"] == "iteration":
                least[name] = min(least.get(name, float("inf")), 1e9 / run["items_per_second"])
                if "peak_MB" in run:
                    peak[name] = max(peak.get(name, 0), run["peak_MB"])
    for path in folder.glob("mpmath.*.txt"):
        least["pair/mpmath"] = min(least.get("pair/mpmath", float("inf")), float(path.read_text()))
    return least, peak, skipped, context


def ns(x):
    return f"{x:,.2f}" if x >= 1 else f"{x:.4f}"


def times(ratio):
    """A ratio far below 1 reads better turned over."""
    return f"1/{1 / ratio:,.0f}" if ratio < 0.01 else f"{ratio:.2f}"


def main():
    json_path, mpmath_version, folder = sys.argv[1:]
    least, peak, skipped, context = read(pathlib.Path(folder))

    print(f"{'ns for an item':<34}{'ns':>12}{'AVX2 only':>12}")
    for name in sorted(name for name in least if not name.endswith("/avx2")):
        avx2 = least.get(name + "/avx2")
        print(f"{name:<34}{ns(least[name]):>12}" + (f"{ns(avx2):>12}" if avx2 else ""))
    for name, reason in skipped.items():
        print(f"{name}: skipped: {reason}")

    results = []
    for what, ours, theirs, target in RATIOS:
        if ours in least and theirs in least:
            ratio = least[ours] / least[theirs]
            results.append({"what": what, "ours_ns": least[ours], "theirs_ns": least[theirs], "ratio": ratio,
                            "target": target, "met": ratio <= target})
            if ours + "/avx2" in least:
                results[-1]["ours_avx2_ns"] = least[ours + "/avx2"]
        else:
            results.append({"what": what, "target": target, "met": None})
    print(f"\n{'time of ours / time of theirs':<62}{'ours ns':>9}{'theirs ns':>11}{'ratio':>9}{'target':>9}  met")
    for r in results:
        if r["met"] is None:
            print(f"{r['what']:<62}{'':>29}{times(r['target']):>9}  not measured")
        else:
            print(f"{r['what']:<62}{ns(r['ours_ns']):>9}{ns(r['theirs_ns']):>11}{times(r['ratio']):>9}"
                  f"{times(r['target']):>9}  {'yes' if r['met'] else 'NO'}")
    grid = {"what": "the whole grid's reference in all four dtypes, ms", "target_ms": GRID_LIMIT_MS, "met": None}
    results.append(grid)
    if "table/grid_all_dtypes" in least:
        grid["ours_ms"] = least["table/grid_all_dtypes"] * GRID_PAIRS * 1e-6
        grid["met"] = grid["ours_ms"] < GRID_LIMIT_MS
        print(f"{grid['what']}: {grid['ours_ms']:.1f}, target {GRID_LIMIT_MS:.0f}: {'yes' if grid['met'] else 'NO'}")

    for name in LARGE:
        large = {"what": f"{name}: 32 heads x 4,096 keys x d 128, s and MB", "target_s": LARGE_LIMIT_S,
                 "target_MB": LARGE_LIMIT_MB, "met": None}
        results.append(large)
        if name in least:
            large["ours_s"], large["peak_MB"] = least[name] * LARGE_MULTIPLY_ADDS * 1e-9, peak[name]
            large["met"] = large["ours_s"] < LARGE_LIMIT_S and large["peak_MB"] < LARGE_LIMIT_MB
            print(f"{large['what']}: {large['ours_s']:.1f} and {large['peak_MB']:.0f}, targets {LARGE_LIMIT_S:.0f} and "
                  f"{LARGE_LIMIT_MB:.0f}: {'yes' if large['met'] else 'NO'}")

    if json_path:
        report = {"context": context, "mpmath": mpmath_version or None, "ns_for_an_item": least, "skipped": skipped,
                  "results": results}
        pathlib.Path(json_path).write_text(json.dumps(report, indent=1) + "\n")
    missed = [r["what"] for r in results if r["met"] is False]
    for what in missed:
        print(f"bench: target missed: {what}", file=sys.stderr)
    for r in results:
        if r["met"] is None:
            print(f"bench: not measured, so not judged: {r['what']}", file=sys.stderr)
    return 1 if missed else 0


sys.exit(main())
