#include "harness/diagnosis/dump.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "harness/bad_input.hpp"
#include "harness/diagnosis/layout.hpp"
#include "harness/diagnosis/row_positions.hpp"
#include "harness/diagnosis/rows.hpp"
#include "harness/diagnosis/stage_names.hpp"
#include "harness/subjects/table_stages.hpp"
#include "harness/tensors/read_tensors.hpp"

namespace ropewalk {
namespace {

constexpr const char* kByRows[] = {"angle", "cos", "sin"};

class DumpReader {
 public:
  DumpReader(const std::filesystem::path& file, const Known& known) : known_(known), tensors_(read_tensors(file)) {
    dump_.file = file.string();
  }

  Dump read() {
    names_ = find_stages(dump_.file, tensors_, known_.map);
    dump_.assumed = names_.notes;
    take_tensors();
    count_pairs();
    if (by_stage_.contains("inv_freq")) frequencies();
    tables();
    positions();
    describe_problem();
    return std::move(dump_);
  }

 private:
  std::string field(const std::string& stage) const { return stage + " (" + name_of_stage(stage) + ")"; }
  std::string name_of_stage(const std::string& stage) const {
    const auto found = names_.tensor_of.find(stage);
    return found != names_.tensor_of.end() ? found->second : names_.tensor_of.at(kCosAndSin);
  }

  void take_tensors() {
    for (const auto& [stage, name] : names_.tensor_of) {
      const Tensor& tensor = tensors_.at(name);
      if (tensor.size() == 0)
        throw BadInput(dump_.file, field(stage), "shape " + shape_text(tensor.shape()), "empty; values are needed");
      if (stage != "positions" && !is_floating(tensor.dtype()))
        throw BadInput(dump_.file, field(stage), std::string(name_of(tensor.dtype())),
                       "accepted: float64, float32, bfloat16, float16");
      if (stage != kCosAndSin) {
        by_stage_[stage] = tensor;
        continue;
      }
      const auto [cos, sin] = split_cos_sin(tensor);
      if (cos.empty())
        throw BadInput(dump_.file, field(stage), "shape " + shape_text(tensor.shape()),
                       "accepted: [..., 2], or cosines and sines as the halves of the last axis");
      dump_.assumed.push_back(fmt::format("{} {} holds cosines, then sines", name, shape_text(tensor.shape())));
      by_stage_["cos"] = cos;
      by_stage_["sin"] = sin;
    }
  }

  // From what is known of the model, else from the frequencies, else later from the tables.
  void count_pairs() {
    if (known_.head_dim) {
      Rope rope;
      rope.head_dim = *known_.head_dim;
      rope.partial_rotary_factor = known_.partial_rotary_factor.value_or(1);
      pairs_ = rope.rotary_dim() / 2;
    } else if (by_stage_.contains("inv_freq")) {
      pairs_ = as_vector(dump_.file, field("inv_freq"), by_stage_["inv_freq"]).values.size();
    }
  }

  void frequencies() {
    const Arranged got = as_vector(dump_.file, field("inv_freq"), by_stage_["inv_freq"]);
    const std::int64_t count = got.values.size();
    if (count != pairs_ && count != 2 * pairs_)
      throw BadInput(dump_.file, field("inv_freq"), "shape " + got.how,
                     fmt::format("{} frequencies are needed, for {} rotated columns{}", pairs_, 2 * pairs_,
                                 known_.source.empty() ? "" : " (" + known_.source + ")"));
    const Paired paired = as_pairs(got.values.reshaped({1, count}), pairs_);
    note_unequal("inv_freq", paired);
    dump_.stages["inv_freq"] = paired.values.reshaped({pairs_});
    found("inv_freq", got.how);
  }

  void tables() {
    std::vector<std::int64_t> widths;
    if (pairs_ > 0) widths = {pairs_, 2 * pairs_};
    const std::int64_t rows = rows_wanted();
    for (const std::string stage : kByRows) {
      if (!by_stage_.contains(stage)) continue;
      const Arranged got = as_matrix(dump_.file, field(stage), by_stage_[stage], widths, rows_ > 0 ? rows_ : rows);
      rows_ = got.values.shape()[0];
      const Paired paired = as_pairs(got.values, pairs_);
      if (pairs_ == 0) {
        pairs_ = paired.values.shape()[1];
        widths = {pairs_, 2 * pairs_};
        dump_.assumed.push_back(fmt::format("{} rotated columns: {} has {} columns, {}", 2 * pairs_, stage,
                                            got.values.shape()[1], paired.layout));
      }
      note_unequal(stage, paired);
      dump_.stages[stage] = paired.values;
      found(stage, got.how + ", " + paired.layout);
    }
  }

  // How many rows there must be, 0 if nothing says so. Positions that fit no table are none of its.
  std::int64_t rows_wanted() {
    if (known_.several_axes.axes() > 1) return known_.on_axes.count();
    const auto given = by_stage_.find("positions");
    if (!known_.positions.empty()) {
      const auto rows = static_cast<std::int64_t>(known_.positions.size());
      if (given != by_stage_.end() && given->second.size() == rows) row_positions_ = given->second.reshaped({rows});
      return rows;
    }
    if (given == by_stage_.end()) return 0;
    for (const std::string stage : kByRows) {
      const auto table = by_stage_.find(stage);
      if (table == by_stage_.end()) continue;
      const std::int64_t one_axis = as_vector_or_all(given->second).size();
      if (has_rows(table->second, one_axis)) {
        row_positions_ = as_vector_or_all(given->second);
        return one_axis;
      }
      if (has_rows(table->second, given->second.size())) {
        row_positions_ = given->second.reshaped({given->second.size()});
        return given->second.size();
      }
      const Shape& shape = given->second.shape();
      if (shape.size() == 2 && (has_rows(table->second, shape[0]) || has_rows(table->second, shape[1])))
        throw BadInput(dump_.file, name_of_stage("positions"), shape_text(given->second.shape()),
                       "positions of several axes are not understood here; accepted: one axis. A case file with "
                       "mrope_section or axial takes the file");
      dump_.assumed.push_back(fmt::format("{} {} is left aside: {} has other rows", name_of_stage("positions"),
                                          shape_text(given->second.shape()), stage));
      return 0;
    }
    return 0;
  }

  // One axis, or, where batches have their own positions, all of them.
  Tensor as_vector_or_all(const Tensor& positions) const {
    try {
      return as_vector(dump_.file, field("positions"), positions).values;
    } catch (const BadInput&) {
      return positions.reshaped({positions.size()});
    }
  }

  void positions() {
    if (rows_ == 0) {  // frequencies alone
      dump_.problem.positions.list = {0, 1};
      return;
    }
    if (known_.several_axes.axes() > 1) return axis_positions();
    const bool in_file = !row_positions_.empty();
    const RowPositions rows =
        positions_of_rows(dump_.file, rows_, in_file ? &row_positions_ : nullptr, known_.positions);
    dump_.assumed.push_back(rows.note);
    dump_.positions_are_truth = !in_file || rows.chosen_by_tensor;
    std::vector<std::int64_t> order(rows.truth.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return rows.truth[a] < rows.truth[b]; });
    std::vector<std::int64_t> list;
    for (const std::int64_t row : order) list.push_back(rows.truth[row]);
    const bool from_zero = list.front() == 0 && list.back() == rows_ - 1;
    const bool sorted = std::is_sorted(rows.truth.begin(), rows.truth.end());
    Tensor truth(DType::int64, {rows_});
    std::copy(list.begin(), list.end(), truth.as<std::int64_t>().begin());
    if (in_file) found("positions", shape_text(by_stage_["positions"].shape()));
    dump_.stages["positions"] = dump_.positions_are_truth ? truth : row_positions_;
    if (from_zero && std::adjacent_find(list.begin(), list.end()) == list.end())
      dump_.problem.positions = {rows_, {}};
    else
      dump_.problem.positions = {0, std::move(list)};
    if (sorted) return;
    for (auto& [stage, tensor] : dump_.stages)
      if (stage != "inv_freq" && !(stage == "positions" && dump_.positions_are_truth))
        tensor = reordered(tensor, order);
  }

  // The rows are known; a file's own positions in floating point are a stage.
  void axis_positions() {
    dump_.problem.positions = known_.on_axes;
    const std::int64_t axes = known_.several_axes.axes();
    const auto given = by_stage_.find("positions");
    dump_.positions_are_truth = given == by_stage_.end() || !is_floating(given->second.dtype());
    dump_.stages["positions"] =
        dump_.positions_are_truth ? row_positions(known_.on_axes, axes) : given->second.reshaped({rows_, axes});
    if (given != by_stage_.end()) found("positions", shape_text(given->second.shape()));
  }

  static Tensor reordered(const Tensor& tensor, const std::vector<std::int64_t>& order) {
    Tensor out(tensor.dtype(), tensor.shape());
    std::byte* to = out.bytes().data();
    for (const std::int64_t row : order) {
      const auto bytes = tensor.rows(row, 1);
      to = std::copy(bytes.bytes().begin(), bytes.bytes().end(), to);
    }
    return out;
  }

  void describe_problem() {
    Case& problem = dump_.problem;
    problem.rope.head_dim = known_.head_dim.value_or(2 * pairs_);
    problem.rope.partial_rotary_factor = known_.head_dim ? known_.partial_rotary_factor.value_or(1) : 1;
    problem.rope.mrope_section = known_.several_axes.mrope_section;
    problem.rope.mrope_interleaved = known_.several_axes.mrope_interleaved;
    problem.rope.axial = known_.several_axes.axial;
    take_scaling(problem);
    dump_.base_known = known_.base.has_value();
    if (known_.base) problem.rope.base = *known_.base;
    if (!known_.source.empty() && known_.base)
      dump_.assumed.push_back(
          fmt::format("base {:g}, {} rotated columns: {}", *known_.base, 2 * pairs_, known_.source));
    problem.dtype = DType::float32;
    if (const auto cos = dump_.stages.find("cos"); cos != dump_.stages.end()) problem.dtype = cos->second.dtype();
    const auto sin = dump_.stages.find("sin");
    if (sin != dump_.stages.end() && !dump_.stages.contains("cos")) problem.dtype = sin->second.dtype();
    if (sin != dump_.stages.end() && dump_.stages.contains("cos") && sin->second.dtype() != problem.dtype)
      dump_.defects.push_back(
          fmt::format("cos is {}, sin is {}", name_of(problem.dtype), name_of(sin->second.dtype())));
    if (known_.dtype) problem.dtype = *known_.dtype;
  }

  // Of a kind that depends on the sequence's length: up to the last row.
  void take_scaling(Case& problem) {
    reference::Scaling& scaling = problem.rope.scaling;
    scaling = known_.scaling;
    if (scaling.type == reference::Scaling::Type::none) return;
    if (scaling.length == 0) scaling.length = static_cast<double>(problem.positions.largest() + 1);
    const bool by_length =
        scaling.type == reference::Scaling::Type::dynamic || scaling.type == reference::Scaling::Type::longrope;
    const std::string length = by_length ? fmt::format(", of a sequence of {:g}", scaling.length) : "";
    dump_.assumed.push_back(fmt::format("scaling {}{}: {}", name_of(scaling.type), length, known_.source));
  }

  void note_unequal(const std::string& stage, const Paired& paired) {
    if (paired.unequal == 0) return;
    dump_.defects.push_back(
        fmt::format("{}: {} of the entries of the {} table differ from their copies, the first at [{}, {}]", stage,
                    paired.unequal, paired.layout, paired.row, paired.column));
  }

  void found(const std::string& stage, const std::string& layout) {
    dump_.found.push_back({stage, name_of_stage(stage), layout, by_stage_[stage].dtype()});
  }

  Known known_;
  std::map<std::string, Tensor> tensors_;
  NamedStages names_;
  std::map<std::string, Tensor> by_stage_;  // as the file has them
  Tensor row_positions_;                    // the file's, [rows]
  std::int64_t pairs_ = 0, rows_ = 0;
  Dump dump_;
};

}  // namespace

Dump read_dump(const std::filesystem::path& file, const Known& known) { return DumpReader(file, known).read(); }

}  // namespace ropewalk
