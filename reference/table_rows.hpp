// How Table makes its rows; included by its own files only. docs/numerics.md, 1.4.
#pragma once

#include <vector>

#include "reference/prove.hpp"
#include "reference/rows.hpp"
#include "reference/table.hpp"

namespace ropewalk::reference {

// Every position is a centre, a multiple of kStride, plus or minus at most kReach.
constexpr std::int64_t kStride = 64;
constexpr std::int64_t kReach = kStride / 2;

// Columns that are evaluated together, so that what is read and written again stays in the first-level cache.
constexpr int kTile = 128;

// Evaluates the columns begin .. begin+pairs-1 of one table's rows; holds the room for them.
struct Table::Rows {
  const Table& table;
  int begin, pairs;
  int zeros = 0;  // frequencies among them that are 0
  Proof proof;
  const double* errors;
  const double* product_errors;  // null: no amplitude
  std::vector<std::uint64_t> high, low;
  std::vector<double> values;
  Row centre, sum, difference;

  Rows(const Table& t, int first_pair, int pair_count)
      : table(t),
        begin(first_pair),
        pairs(pair_count),
        errors(t.errors_.data() + begin),
        product_errors(t.product_errors_.empty() ? nullptr : t.product_errors_.data() + begin),
        high(static_cast<std::size_t>(pairs)),
        low(high),
        values(12 * high.size()),
        centre{values.data(), pairs},
        sum{centre.values + 4 * pairs, pairs},
        difference{sum.values + 4 * pairs, pairs} {
    for (int j = 0; j < pairs; ++j) zeros += t.frequencies_.head(begin + j) == 0 ? 1 : 0;
  }

  DoubleDouble amplitude() const { return {table.amplitude_.head(), table.amplitude_.tail()}; }

  // Counts a row that the kernel proved.
  void count_row() {
    proof.fast += 2 * (pairs - zeros);
    proof.exact += 2 * zeros;
  }

  // The position's angles by themselves; not yet proved, if the return says so.
  bool evaluate(std::int64_t position, Row out) {
    for (int j = 0; j < pairs; ++j) {
      const Turn128 turn = times(table.frequencies_.turns(begin + j), static_cast<std::uint64_t>(position));
      high[static_cast<std::size_t>(j)] = turn.high;
      low[static_cast<std::size_t>(j)] = turn.low;
    }
    return sin_cos_of_turns(high.data(), low.data(), pairs, errors, out);
  }

  // Proves what the kernel could not in a counted row.
  void prove_failed(std::int64_t position, Row row, const double* tested) {
    for (int j = 0; j < pairs; ++j) {
      if (rounds_to_head(row.sin()[j], row.sin_tail()[j], tested[j]) &&
          rounds_to_head(row.cos()[j], row.cos_tail()[j], tested[j])) {
        continue;
      }
      proof.fast -= 2;
      const RoundedSinCos v = prove(table.frequencies_, table.amplitude_, position, begin + j, table.error_, proof);
      row.sin()[j] = v.sin.head;
      row.sin_tail()[j] = v.sin.tail;
      row.cos()[j] = v.cos.head;
      row.cos_tail()[j] = v.cos.tail;
    }
  }

  // A row from a kernel becomes proved values times the amplitude. Whether the kernel proved its own values does not
  // matter to their products.
  void finish(std::int64_t position, Row row, bool failed) {
    count_row();
    const double* tested = errors;
    if (product_errors) {
      failed = amplify_row(row, pairs, amplitude(), product_errors);
      tested = product_errors;
    }
    if (failed) prove_failed(position, row, tested);
  }

  void evaluate_proved(std::int64_t position, Row out) { finish(position, out, evaluate(position, out)); }

  // Calls visit(c, b, plus, minus) for all positions c + b and c - b in first .. first+count-1, with the row of c in
  // `centre`: plus and minus say which of the two positions are among them.
  template <class Visit>
  void around_centres(std::int64_t first, std::int64_t count, const Visit& visit) {
    const std::int64_t end = first + count;
    for (std::int64_t c = (first + kReach) / kStride * kStride; c - kReach < end; c += kStride) {
      evaluate(c, centre);
      for (std::int64_t b = 0; b <= kReach; ++b) {
        const bool plus = b < kReach && c + b >= first && c + b < end;
        const bool minus = b > 0 && c - b >= first && c - b < end;
        if (plus || minus) visit(c, b, plus, minus);
      }
    }
  }

  // Calls visit(position, sin, cos) for first .. first+count-1 in some order, with the heads of the row.
  template <class Visit>
  void heads(std::int64_t first, std::int64_t count, const Visit& visit) {
    double* const four = sum.values;
    around_centres(first, count, [&](std::int64_t c, std::int64_t b, bool plus, bool minus) {
      const bool failed = product_errors
                              ? rotate_rows_heads(centre, fine_row(b), pairs, amplitude(), product_errors, four)
                              : rotate_rows_heads(centre, fine_row(b), pairs, errors, four);
      const auto finish = [&](std::int64_t position, const double* sin) {
        if (!failed) {
          count_row();
          visit(position, sin, sin + pairs);
          return;
        }
        evaluate_proved(position, difference);
        visit(position, difference.sin(), difference.cos());
      };
      if (plus) finish(c + b, four);
      if (minus) finish(c - b, four + 2 * pairs);
    });
  }

  // Only ever read.
  Row fine_row(std::int64_t b) const {
    return {const_cast<double*>(table.fine_.data()) + 4 * b * table.pairs() + begin, table.pairs()};
  }
};

}  // namespace ropewalk::reference
