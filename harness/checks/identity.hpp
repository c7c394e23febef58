// Are two subjects the same bits in one stage? Raw differences decide only here, because identity is what is claimed;
// for subjects that differ both are measured against the reference, so that the report can say which one is closer.
#pragma once

#include <span>
#include <string>

#include "harness/checks/statistics.hpp"
#include "harness/checks/truth.hpp"

namespace ropewalk {

class IdentityCheck {
 public:
  explicit IdentityCheck(std::string stage) : stage_(std::move(stage)) {}
  void add(const Stages& a, const Stages& b, Truth& truth, bool first_block);
  void conclude(Result& result) const;
  bool differs() const { return mismatched_ > 0 || !shape_reason_.empty(); }

 private:
  void look_at(std::span<const double> values, std::size_t side);
  struct Place {
    std::int64_t position, row;
    std::span<const double> of_pairs;  // each pair's own position, where there are several axes
  };
  void row(const double* a, const double* b, std::size_t n, Place place, const double* exact);

  std::string stage_, dtypes_, shape_reason_;
  Statistics statistics_;
  std::int64_t mismatched_ = 0, rows_ = 0, nan_[2] = {0, 0}, inf_[2] = {0, 0};
  bool all_zero_ = true, only_position_zero_ = true;
  reference::Format format_ = reference::Format::float32;
  double closest_[2] = {0, 0};
  Worst worst_;
  std::vector<double> a_, b_, difference_, ulps_;
};

}  // namespace ropewalk
