#include "reference/table.hpp"

#include <algorithm>
#include <stdexcept>

#include "reference/table_rows.hpp"

namespace ropewalk::reference {
namespace {

// Fewer rows than this are cheaper one by one.
constexpr std::int64_t kFewRows = 8;

// Columns `column` and following of a row of the block.
void copy_row(Row from, int pairs, SinCos& to, std::int64_t row, int column) {
  const std::int64_t offset = row * to.pairs + column;
  std::copy_n(from.sin(), pairs, to.sin.data() + offset);
  std::copy_n(from.sin_tail(), pairs, to.sin_tail.data() + offset);
  std::copy_n(from.cos(), pairs, to.cos.data() + offset);
  std::copy_n(from.cos_tail(), pairs, to.cos_tail.data() + offset);
}

void check_position(std::int64_t position) {
  if (position < 0 || position > kMaxPosition) throw std::out_of_range("positions are from 0 to 2^53");
}

}  // namespace

Proof& Proof::operator+=(const Proof& other) {
  fast += other.fast;
  fallback += other.fallback;
  exact += other.exact;
  midpoints += other.midpoints;
  undecided += other.undecided;
  return *this;
}

void SinCos::resize(std::int64_t row_count, int pair_count) {
  rows = row_count;
  pairs = pair_count;
  const std::size_t size = static_cast<std::size_t>(rows) * static_cast<std::size_t>(pairs);
  for (auto* values : {&sin, &sin_tail, &cos, &cos_tail}) values->resize(size);
}

Table::Table(Frequencies frequencies, Amplitude amplitude, double rounding_test_error)
    : frequencies_(std::move(frequencies)),
      amplitude_(std::move(amplitude)),
      error_(std::max(rounding_test_error, kRoundingTestError)) {
  for (int j = 0; j < pairs(); ++j) errors_.push_back(test_error_of(frequencies_.head(j), error_));
  if (!amplitude_.is_one())
    for (const double error : errors_) product_errors_.push_back(error * amplitude_.head());
  fine_.resize(4 * errors_.size() * (kReach + 1));
  Rows rows(*this, 0, pairs());
  for (std::int64_t b = 0; b <= kReach; ++b) rows.evaluate(b, rows.fine_row(b));
}

void Table::check_range(std::int64_t first, std::int64_t count) const {
  if (count < 0) throw std::out_of_range("a table cannot have a negative number of rows");
  check_position(first);
  check_position(first + count);
}

Proof Table::dense(std::int64_t first, std::int64_t count, SinCos& out) const {
  check_range(first, count);
  out.resize(count, pairs());
  out.error = kRoundingTestError * amplitude_.head();
  Proof proof;
  for (int begin = 0; begin < pairs(); begin += kTile) {
    Rows rows(*this, begin, std::min(kTile, pairs() - begin));
    if (count < kFewRows) {
      for (std::int64_t i = 0; i < count; ++i) {
        rows.evaluate_proved(first + i, rows.sum);
        copy_row(rows.sum, rows.pairs, out, i, begin);
      }
    } else {
      rows.around_centres(first, count, [&](std::int64_t centre, std::int64_t b, bool plus, bool minus) {
        const bool failed =
            rotate_rows(rows.centre, rows.fine_row(b), rows.pairs, rows.errors, rows.sum, rows.difference);
        const auto finish = [&](std::int64_t position, Row row) {
          rows.finish(position, row, failed);
          copy_row(row, rows.pairs, out, position - first, begin);
        };
        if (plus) finish(centre + b, rows.sum);
        if (minus) finish(centre - b, rows.difference);
      });
    }
    proof += rows.proof;
  }
  return proof;
}

Proof Table::sparse(std::span<const std::int64_t> positions, SinCos& out) const {
  for (const std::int64_t position : positions) check_position(position);
  out.resize(static_cast<std::int64_t>(positions.size()), pairs());
  out.error = kRoundingTestError * amplitude_.head();
  Rows rows(*this, 0, pairs());
  for (std::size_t i = 0; i < positions.size(); ++i) {
    rows.evaluate_proved(positions[i], rows.sum);
    copy_row(rows.sum, pairs(), out, static_cast<std::int64_t>(i), 0);
  }
  return rows.proof;
}

Proof Table::for_each_row(std::int64_t first, std::int64_t count, const Visitor& visit) const {
  check_range(first, count);
  Rows rows(*this, 0, pairs());
  rows.heads(first, count, visit);
  return rows.proof;
}

}  // namespace ropewalk::reference
