#include "harness/diagnosis/row_positions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <string_view>

#include "harness/bad_input.hpp"
#include "harness/diagnosis/layout.hpp"
#include "harness/diagnosis/stage_names.hpp"
#include "harness/tensors/read_tensors.hpp"

namespace ropewalk {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 24;  // the reference's bounds hold below it
constexpr const char* kAccepted =
    "FROM..TO, FROM..TO:STEP or a list such as 7,8,9, of positions 0 to 16777215; or a file with a tensor `positions`";

std::int64_t number_in(std::string_view text, const std::string& all) {
  std::int64_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0 || value >= kLargest)
    throw BadInput("--positions", "", all, kAccepted);
  return value;
}

std::vector<std::int64_t> checked(const std::string& file, const std::string& field, const Tensor& tensor) {
  std::vector<std::int64_t> out;
  for (const double v : to_doubles(tensor)) {
    if (!(v >= 0 && v < static_cast<double>(kLargest)) || v != std::floor(v))
      throw BadInput(file, field, fmt::format("{}", v),
                     fmt::format("whole positions 0 to {} are needed", kLargest - 1));
    out.push_back(static_cast<std::int64_t>(v));
  }
  return out;
}

std::vector<std::int64_t> from_file(const std::string& file) {
  const auto tensors = read_tensors(file);
  std::string name = tensors.size() == 1 ? tensors.begin()->first : "positions";
  if (!tensors.contains(name))
    throw BadInput(file, "positions", "", "no such tensor; one tensor, or one of this name, is needed");
  const Tensor& tensor = tensors.at(name);
  if (tensor.size() == 0) throw BadInput(file, name, "", "empty; positions are needed");
  return checked(file, name, tensor);
}

std::vector<std::int64_t> first_numbers(std::int64_t count) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(count));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

}  // namespace

std::vector<std::int64_t> read_positions_option(const std::string& text) {
  if (text.find_first_not_of("0123456789.,:") != std::string::npos || std::filesystem::is_regular_file(text))
    return from_file(text);
  std::vector<std::int64_t> out;
  if (const std::size_t dots = text.find(".."); dots != std::string::npos) {
    const std::string_view all = text;
    const std::size_t colon = all.find(':', dots);
    const std::int64_t from = number_in(all.substr(0, dots), text);
    const std::int64_t to = number_in(all.substr(dots + 2, colon == all.npos ? all.npos : colon - dots - 2), text);
    const std::int64_t step = colon == all.npos ? 1 : number_in(all.substr(colon + 1), text);
    if (step < 1 || to < from) throw BadInput("--positions", "", text, kAccepted);
    for (std::int64_t p = from; p <= to; p += step) out.push_back(p);
    return out;
  }
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    out.push_back(number_in(std::string_view(text).substr(start, comma - start), text));
    start = comma + 1;
  }
  return out;
}

RowPositions positions_of_rows(const std::string& file, std::int64_t rows, const Tensor* in_file,
                               const std::vector<std::int64_t>& given) {
  RowPositions out;
  if (!given.empty()) {
    if (static_cast<std::int64_t>(given.size()) != rows)
      throw BadInput("--positions", "", fmt::format("{} positions", given.size()),
                     fmt::format("{} are needed, one for each row of {}", rows, file));
    out.truth = given;
    out.note = "positions as --positions says";
    return out;
  }
  const std::string counted = rows == 1 ? "position 0" : fmt::format("positions 0 to {}", rows - 1);
  out.truth = first_numbers(rows);
  out.note = counted + ", one a row: the file names none";
  if (in_file == nullptr) return out;
  const auto values = to_doubles(*in_file);
  // 2^-8: half the spacing of bfloat16's numbers, and as much again for an arange that adds in 16 bits.
  bool counts_up = true, whole = true;
  for (std::size_t r = 0; r < values.size(); ++r) {
    const auto expected = static_cast<double>(r);
    counts_up = counts_up && std::fabs(values[r] - expected) <= expected * 0x1p-8;
    whole = whole && values[r] == std::floor(values[r]);
  }
  const bool narrow = is_floating(in_file->dtype()) && bytes_of(in_file->dtype()) == 2;
  if (!is_floating(in_file->dtype()) || (whole && !narrow && !counts_up)) {
    out.truth = checked(file, "positions", *in_file);
    out.chosen_by_tensor = true;
    out.note = "positions as the file has them";
  } else {
    out.note = fmt::format("{}, one a row; the file's own, {}, are judged by them", counted, name_of(in_file->dtype()));
  }
  return out;
}

}  // namespace ropewalk
