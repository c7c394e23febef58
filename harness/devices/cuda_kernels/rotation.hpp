// Rotation of q and k, in float32 with one rounding of the result. One body handles one pair of channels; the last of a
// head also copies the channels that do not turn.
#pragma once

#include "harness/devices/cuda_kernels/arithmetic.hpp"

namespace ropewalk::kernels {

enum class Pairing { half_split, interleaved };  // channels j and j + pairs, or 2 j and 2 j + 1
enum class Contraction { none, fma };            // fma: the products with the cosine are within it
enum class AngleSource { table, in_place };      // in_place: cosine and sine are made where they are used, by sincosf

struct RotationArguments {
  const void* x;                      // [batch, seq, heads, head_dim]
  void* out;                          // the same shape
  const float *cos, *sin;             // [seq, pairs], of AngleSource::table
  const float *positions, *inv_freq;  // [seq], [pairs], of AngleSource::in_place
  std::int64_t batch, seq, heads, head_dim, pairs;
  std::int64_t count() const { return batch * seq * heads * pairs; }  // bodies to run
};

template <class T, Pairing pairing, Contraction contraction, AngleSource source>
struct Rotate {
  RotationArguments a;

  ROPEWALK_BODY SineCosine angle(std::int64_t row, std::int64_t pair) const {
    if constexpr (source == AngleSource::in_place)
      return sine_cosine(multiply(a.positions[row], a.inv_freq[pair]));
    else
      return {a.sin[row * a.pairs + pair], a.cos[row * a.pairs + pair]};
  }

  ROPEWALK_BODY void operator()(std::int64_t i) const {
    const std::int64_t pair = i % a.pairs, head = i / a.pairs;  // head: of all batches, rows and heads
    const std::int64_t row = head / a.heads % a.seq;
    const std::int64_t first = pairing == Pairing::half_split ? pair : 2 * pair;
    const std::int64_t second = pairing == Pairing::half_split ? pair + a.pairs : 2 * pair + 1;
    const T* const from = static_cast<const T*>(a.x) + head * a.head_dim;
    T* const to = static_cast<T*>(a.out) + head * a.head_dim;
    const SineCosine at = angle(row, pair);
    const float x = load(from[first]), y = load(from[second]);
    const float y_sine = multiply(y, at.sine), x_sine = multiply(x, at.sine);
    if constexpr (contraction == Contraction::fma) {
      store(fused(x, at.cosine, -y_sine), to[first]);
      store(fused(y, at.cosine, x_sine), to[second]);
    } else {
      store(subtract(multiply(x, at.cosine), y_sine), to[first]);
      store(add(multiply(y, at.cosine), x_sine), to[second]);
    }
    if (pair == a.pairs - 1)
      for (std::int64_t j = 2 * a.pairs; j < a.head_dim; ++j) to[j] = from[j];
  }
};

// Each head of x `copies` times, neighbours: [rows, heads, head_dim] to [rows, heads * copies, head_dim].
struct ExpandArguments {
  const void* x;
  void* out;
  std::int64_t rows, heads, copies, head_dim;
  std::int64_t count() const { return rows * heads * copies * head_dim; }
};

template <class T>
struct Expand {
  ExpandArguments a;

  ROPEWALK_BODY void operator()(std::int64_t i) const {
    const std::int64_t channel = i % a.head_dim, head = i / a.head_dim / a.copies;
    static_cast<T*>(a.out)[i] = static_cast<const T*>(a.x)[head * a.head_dim + channel];
  }
};

}  // namespace ropewalk::kernels
