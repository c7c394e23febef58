// Reports made by hand for the tests of the reporters: deterministic, with no run behind them.
#pragma once

#include "harness/report/result.hpp"

namespace ropewalk::samples {

// One or two results of every relation and verdict; expected and unexpected ones, NaN and infinity, umlauts, control
// characters and broken UTF-8 in reasons; interrupted.
Report every_kind();
// What the run of the seed grid looks like: 2 cases x 3 dtypes x 27 cells, identity of cos and sin and accuracy of four
// stages. In the case `before` the table differs between CPU and GPU in float32 only, in `proposal` nowhere.
Report seed_grid();
// `count` results spread over many cases, all kinds mixed.
Report large(int count);

}  // namespace ropewalk::samples
