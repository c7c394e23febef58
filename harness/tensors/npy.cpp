#include "harness/tensors/npy.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace ropewalk {
namespace {

// The letter of the kind and the size in bytes, as NumPy writes them after the letter of the byte order.
constexpr std::array<std::pair<std::string_view, DType>, 10> kTypes{{{"f8", DType::float64},
                                                                     {"f4", DType::float32},
                                                                     {"f2", DType::float16},
                                                                     {"i8", DType::int64},
                                                                     {"i4", DType::int32},
                                                                     {"i2", DType::int16},
                                                                     {"i1", DType::int8},
                                                                     {"u1", DType::uint8},
                                                                     {"b1", DType::boolean},
                                                                     {"c8", DType::complex64}}};
constexpr const char* kAcceptedTypes = "accepted: f8, f4, f2, i8, i4, i2, i1, u1, b1, c8 after < or >";
constexpr std::size_t kMostAxes = 64;  // NumPy's own limit

struct Header {
  std::string descr;
  bool fortran_order = false;
  Shape shape;
};

// The few Python literals that a header consists of: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class HeaderText {
 public:
  HeaderText(const FileBytes& bytes, std::string_view text) : bytes_(bytes), text_(text) {}

  Header read() {
    Header header;
    std::set<std::string> seen;
    expect('{');
    while (!take('}')) {
      const std::string key = quoted();
      expect(':');
      if (!seen.insert(key).second) bytes_.refuse("header", quoted_name(key), "given twice");
      if (key == "descr") {
        header.descr = take_descr();
      } else if (key == "fortran_order") {
        header.fortran_order = truth();
      } else if (key == "shape") {
        header.shape = shape();
      } else {
        bytes_.refuse("header", quoted_name(key), "unknown; accepted: descr, fortran_order, shape");
      }
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    skip_spaces();
    if (!text_.empty()) refuse("goes on after its closing brace");
    for (const char* key : {"descr", "fortran_order", "shape"})
      if (!seen.contains(key)) bytes_.refuse("header", key, "missing");
    return header;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const { bytes_.refuse("header", quoted_name(whole()), why); }
  std::string whole() const { return std::string(text_.substr(0, 40)); }

  void skip_spaces() {
    const std::size_t first = text_.find_first_not_of(" \n");
    text_.remove_prefix(std::min(first, text_.size()));
  }
  bool take(char wanted) {
    skip_spaces();
    if (text_.empty() || text_.front() != wanted) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool take_word(std::string_view word) {
    skip_spaces();
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  void expect(char wanted) {
    if (!take(wanted)) refuse(std::string("not what NumPy writes: '") + wanted + "' is needed before this");
  }
  std::string quoted() {
    skip_spaces();
    const char quote = text_.empty() ? ' ' : text_.front();
    const std::size_t end = quote == '\'' || quote == '"' ? text_.find(quote, 1) : std::string_view::npos;
    if (end == std::string_view::npos) refuse("not what NumPy writes: a quoted text is needed");
    std::string inside(text_.substr(1, end - 1));
    text_.remove_prefix(end + 1);
    return inside;
  }
  std::string take_descr() {
    skip_spaces();
    if (text_.starts_with('[') || text_.starts_with('('))
      bytes_.refuse("descr", quoted_name(whole()), std::string("an array of structures; ") + kAcceptedTypes);
    return quoted();
  }
  bool truth() {
    if (take_word("True")) return true;
    if (!take_word("False")) refuse("fortran_order is True or False");
    return false;
  }
  std::int64_t size() {
    skip_spaces();
    std::int64_t value = 0;
    const std::size_t digits = std::min(text_.find_first_not_of("0123456789"), text_.size());
    if (digits == 0) refuse("shape: whole numbers of at least 0 are needed");
    if (digits > 18) bytes_.refuse("shape", quoted_name(whole()), "too large");
    for (const char digit : text_.substr(0, digits)) value = 10 * value + (digit - '0');
    text_.remove_prefix(digits);
    if (text_.starts_with('L')) text_.remove_prefix(1);  // Python 2's long integers
    return value;
  }
  Shape shape() {
    Shape sizes;
    expect('(');
    while (!take(')')) {
      sizes.push_back(size());
      if (sizes.size() > kMostAxes) refuse("shape: more than 64 axes");
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return sizes;
  }

  const FileBytes& bytes_;
  std::string_view text_;
};

struct Element {
  DType dtype = DType::float32;
  bool big_endian = false;
};

Element element_of(const FileBytes& bytes, const std::string& descr) {
  const std::string_view text = descr;
  const bool ordered = !text.empty() && std::string_view("<>|=").find(text.front()) != std::string_view::npos;
  const std::string_view type = text.substr(ordered ? 1 : 0);
  const auto refuse = [&](const std::string& why) { bytes.refuse("descr", quoted_name(descr), why + kAcceptedTypes); };
  if (type.starts_with('O')) refuse("objects are pickled Python and are never read; ");
  if (type.starts_with('V')) refuse("raw bytes (NumPy has no name for bfloat16 and fp8: save those as safetensors); ");
  for (const auto& [name, dtype] : kTypes) {
    if (type != name) continue;
    if (bytes_of(dtype) > 1 && text.front() != '<' && text.front() != '>') refuse("no byte order; ");
    return {dtype, text.front() == '>'};
  }
  refuse("");
  return {};
}

Tensor little_endian(const Tensor& tensor) {
  Tensor out(tensor.dtype(), tensor.shape());
  // Each part of a complex number has an order of its own.
  const std::size_t unit = tensor.dtype() == DType::complex64 ? 4 : bytes_of(tensor.dtype());
  const auto from = tensor.bytes();
  for (std::size_t i = 0; i < from.size(); i += unit)
    std::reverse_copy(from.begin() + i, from.begin() + i + unit, out.bytes().begin() + i);
  return out;
}

}  // namespace

Tensor read_npy(const FileBytes& bytes) {
  constexpr std::uint64_t kFixed = 8;  // magic word and version
  if (bytes.size < kFixed + 2) bytes.refuse("", "", "truncated: " + std::to_string(bytes.size) + " bytes");
  if (std::string_view(bytes.text(), kNpyMagic.size()) != kNpyMagic)
    bytes.refuse("", "", "not an .npy file: it does not begin with \\x93NUMPY");
  const auto major = static_cast<unsigned char>(bytes.text()[6]), minor = static_cast<unsigned char>(bytes.text()[7]);
  if (major < 1 || major > 3 || minor != 0)
    bytes.refuse("version", std::to_string(major) + "." + std::to_string(minor), "accepted: 1.0, 2.0, 3.0");
  const std::uint64_t length_bytes = major == 1 ? 2 : 4;
  std::uint32_t length = 0;
  if (bytes.size < kFixed + length_bytes) bytes.refuse("", "", "truncated before the header");
  std::memcpy(&length, bytes.text() + kFixed, length_bytes);
  const std::uint64_t first = kFixed + length_bytes + length;
  if (first > bytes.size)
    bytes.refuse("header", std::to_string(length) + " bytes",
                 "truncated: the file has " + std::to_string(bytes.size - kFixed - length_bytes) + " after the length");

  const Header header = HeaderText(bytes, {bytes.text() + kFixed + length_bytes, length}).read();
  const Element element = element_of(bytes, header.descr);
  const auto needed = checked_bytes(element.dtype, header.shape);
  if (!needed) bytes.refuse("shape", "", "too large: its size in bytes has more than 63 bits");
  const std::uint64_t there = bytes.size - first;
  if (static_cast<std::uint64_t>(*needed) != there)
    bytes.refuse("data", std::to_string(there) + " bytes",
                 (there < static_cast<std::uint64_t>(*needed) ? "truncated: " : "too long: ") +
                     std::string("shape and ") + quoted_name(header.descr) + " need " + std::to_string(*needed));

  Shape stored = header.shape;  // what lies in the file is row-major in the reversed shape
  if (header.fortran_order) std::reverse(stored.begin(), stored.end());
  Tensor tensor = tensor_in(bytes, first, element.dtype, stored);
  if (element.big_endian) tensor = little_endian(tensor);
  if (!header.fortran_order) return tensor;
  Shape strides;
  std::int64_t step = 1;
  for (const std::int64_t size : header.shape) {
    strides.push_back(step);
    step *= size;
  }
  return strided_copy(std::as_const(tensor).bytes().data(), element.dtype, header.shape, strides);
}

}  // namespace ropewalk
