// Logits and probabilities of one row in double-double, every number with its bound.
#pragma once

#include <vector>

#include "reference/attention.hpp"
#include "reference/attention_rows.hpp"
#include "reference/bounded.hpp"

namespace ropewalk::reference {

inline Bounded number_at(const Reals& x, std::size_t i) { return {{x.head[i], x.tail_at(i)}, x.bound_at(i)}; }

// Index of channel 0 of a query's head, and of a key for a query's head.
std::size_t query_index(const Attention& attention, int head, std::int64_t query);
std::size_t key_index(const Attention& attention, int head, std::int64_t key);
std::size_t value_index(const Attention& attention, int head, std::int64_t key);

// Of the keys keys.first <= j < keys.last, at [j - keys.first].
struct LogitRow {
  KeyRange keys;
  std::vector<Bounded> capped;  // scale <q, k>, softcapped; nothing added
  std::vector<Bounded> slope;   // of the softcap there: 1 - tanh^2; empty without a softcap
  std::vector<std::uint8_t> seen;
  std::int64_t count = 0;  // of keys seen
};
LogitRow logits_of_row(const Attention& attention, const AttentionInputs& inputs, int head, std::int64_t query);

// The probabilities at [j - keys.first], 0 where hidden. For rows with a key or a sink. By MPFR where the logits are so
// large that double-double says too little and the inputs are exact.
std::vector<Bounded> probabilities_of_row(const Attention& attention, const AttentionInputs& inputs, int head,
                                          std::int64_t query, const LogitRow& logits);

// Whether softmax has no meaning: no key and no sink.
bool undefined_row(const Attention& attention, int head, const LogitRow& logits);

}  // namespace ropewalk::reference
