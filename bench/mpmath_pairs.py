"""Nanoseconds for a pair (a product, a sine, a cosine) by mpmath at 50 digits, on the sample of sizes.hpp."""

import sys
import time

import mpmath

BASE, DIM, POSITIONS, STEP = 10000, 128, 131072, 2048  # kLong and kSampleStep

mpmath.mp.dps = 50
frequencies = [mpmath.mpf(BASE) ** (mpmath.mpf(-2 * j) / DIM) for j in range(DIM // 2)]
positions = range(STEP - 1, POSITIONS, STEP)


def once():
    start = time.process_time()
    for position in positions:
        for frequency in frequencies:
            mpmath.cos_sin(frequency * position)
    return (time.process_time() - start) * 1e9 / (len(positions) * len(frequencies))


once()  # fills mpmath's own tables
print(min(once() for _ in range(int(sys.argv[1]))))
