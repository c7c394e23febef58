#include "harness/tensors/safetensors.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "harness/bad_input.hpp"

namespace ropewalk {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;  // the limit that the format's own reader has
constexpr const char* kMetadata = "__metadata__";

constexpr std::array<std::pair<const char*, DType>, 12> kDTypes{{{"F64", DType::float64},
                                                                 {"F32", DType::float32},
                                                                 {"BF16", DType::bfloat16},
                                                                 {"F16", DType::float16},
                                                                 {"I64", DType::int64},
                                                                 {"I32", DType::int32},
                                                                 {"I16", DType::int16},
                                                                 {"I8", DType::int8},
                                                                 {"U8", DType::uint8},
                                                                 {"BOOL", DType::boolean},
                                                                 {"F8_E4M3", DType::float8_e4m3fn},
                                                                 {"F8_E5M2", DType::float8_e5m2}}};
// Names that the format knows and this version does not read.
constexpr std::array kKnownButUnsupported{"F8_E8M0", "F6_E2M3", "F6_E3M2", "F4", "U16", "U32", "U64", "C64"};

std::string json_text(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }
std::string tensor_field(const std::string& name) { return "tensor " + json_text(name); }

// The parser keeps the last of two equal keys without a word, so keys are watched while it works.
Json parse_header(const std::string& file, const char* text, std::uint64_t length) {
  std::vector<std::set<std::string>> seen;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    const auto level = static_cast<std::size_t>(depth);
    if (level > 3)
      throw BadInput(file, "header", "", "nested too deeply; accepted: name -> dtype, shape, data_offsets");
    if (event == Json::parse_event_t::object_start) {
      seen.resize(std::max(seen.size(), level + 1));
      seen[level].clear();
    } else if (event == Json::parse_event_t::key && !seen[level - 1].insert(parsed.get<std::string>()).second) {
      throw BadInput(file, level == 1 ? tensor_field(parsed.get<std::string>()) : "header", "",
                     json_text(parsed) + " is given twice");
    }
    return true;
  };
  try {
    Json header = Json::parse(text, text + length, watch);
    if (!header.is_object()) throw BadInput(file, "header", "", "not a JSON object");
    return header;
  } catch (const Json::exception&) {
    throw BadInput(file, "header", "", "not valid JSON in UTF-8");
  }
}

struct Entry {
  std::string name;
  DType dtype = DType::float32;
  Shape shape;
  std::uint64_t begin = 0, end = 0;  // within the data, which starts after the header
};

DType read_dtype(const std::string& file, const std::string& name, const Json& value) {
  const std::string text = value.is_string() ? value.get<std::string>() : "";
  for (const auto& [label, dtype] : kDTypes)
    if (text == label) return dtype;
  const bool known =
      std::find(kKnownButUnsupported.begin(), kKnownButUnsupported.end(), text) != kKnownButUnsupported.end();
  throw BadInput(file, tensor_field(name), "dtype " + json_text(value),
                 std::string(known ? "not supported by this version" : "unknown") +
                     "; accepted: F64, F32, BF16, F16, I64, I32, I16, I8, U8, BOOL, F8_E4M3, F8_E5M2");
}

Entry read_entry(const std::string& file, const std::string& name, const Json& fields) {
  const auto refuse = [&](const std::string& value, const std::string& accepted) {
    throw BadInput(file, tensor_field(name), value, accepted);
  };
  if (!fields.is_object()) refuse(json_text(fields), "accepted: an object with dtype, shape, data_offsets");
  for (const char* field : {"dtype", "shape", "data_offsets"})
    if (!fields.contains(field)) refuse(field, "missing");
  if (fields.size() != 3) refuse(json_text(fields), "has other fields than dtype, shape, data_offsets");

  Entry entry{name, read_dtype(file, name, fields["dtype"]), {}, 0, 0};
  const Json& shape = fields["shape"];
  const Json& offsets = fields["data_offsets"];
  std::uint64_t bytes = bytes_of(entry.dtype);
  if (!shape.is_array()) refuse("shape " + json_text(shape), "accepted: a list of sizes of at least 0");
  for (const Json& size : shape) {
    if (!size.is_number_unsigned()) refuse("shape " + json_text(shape), "accepted: whole numbers of at least 0");
    const auto count = size.get<std::uint64_t>();
    if (count != 0 && bytes > std::numeric_limits<std::int64_t>::max() / count)
      refuse("shape " + json_text(shape), "too large: its size in bytes has more than 63 bits");
    if (count > std::numeric_limits<std::int64_t>::max()) refuse("shape " + json_text(shape), "too large");
    bytes *= count;
    entry.shape.push_back(static_cast<std::int64_t>(count));
  }
  if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
      !offsets[1].is_number_unsigned())
    refuse("data_offsets " + json_text(offsets), "accepted: two whole numbers, first byte and byte after the last");
  entry.begin = offsets[0].get<std::uint64_t>();
  entry.end = offsets[1].get<std::uint64_t>();
  if (entry.begin > entry.end || entry.end - entry.begin != bytes)
    refuse("data_offsets " + json_text(offsets), "shape " + json_text(shape) + " of " +
                                                     std::string(name_of(entry.dtype)) + " needs " +
                                                     std::to_string(bytes) + " bytes");
  return entry;
}

// Every byte of the data belongs to exactly one tensor.
void check_layout(const std::string& file, std::vector<Entry>& entries, std::uint64_t data_bytes) {
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
  std::uint64_t next = 0;
  for (const Entry& entry : entries) {
    const auto refuse = [&](const std::string& why) {
      throw BadInput(file, tensor_field(entry.name),
                     "data_offsets [" + std::to_string(entry.begin) + "," + std::to_string(entry.end) + "]", why);
    };
    if (entry.end > data_bytes) refuse("outside the file, which has " + std::to_string(data_bytes) + " bytes of data");
    if (entry.begin < next) refuse("overlaps the tensor before it, which ends at " + std::to_string(next));
    if (entry.begin > next) refuse("leaves a hole after byte " + std::to_string(next));
    next = entry.end;
  }
  if (next != data_bytes)
    throw BadInput(file, "", std::to_string(data_bytes - next) + " bytes at the end", "belong to no tensor");
}

const char* label_of(DType dtype) {
  for (const auto& [label, known] : kDTypes)
    if (known == dtype) return label;
  throw std::invalid_argument("safetensors: " + std::string(name_of(dtype)) + " is not supported by this version");
}

}  // namespace

std::map<std::string, Tensor> read_safetensors(const std::filesystem::path& path) {
  return read_safetensors(map_file(path, "a safetensors file"));
}

std::map<std::string, Tensor> read_safetensors(const FileBytes& bytes) {
  const std::string& file = bytes.file;
  if (bytes.size < kLengthBytes)
    bytes.refuse("", "", "truncated: " + std::to_string(bytes.size) + " bytes; a safetensors file has at least 8");
  std::uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, bytes.text(), kLengthBytes);
  if (header_bytes > kMaxHeaderBytes)
    throw BadInput(file, "header", std::to_string(header_bytes) + " bytes", "accepted: at most 100000000");
  if (header_bytes > bytes.size - kLengthBytes)
    throw BadInput(file, "header", std::to_string(header_bytes) + " bytes",
                   "truncated: the file has " + std::to_string(bytes.size - kLengthBytes) + " after the length");
  const Json header = parse_header(file, bytes.text() + kLengthBytes, header_bytes);

  std::vector<Entry> entries;
  for (const auto& [name, fields] : header.items()) {
    if (name != kMetadata) {
      entries.push_back(read_entry(file, name, fields));
    } else if (!fields.is_null() &&
               (!fields.is_object() ||  // some writers say null for none
                !std::all_of(fields.begin(), fields.end(), [](const Json& v) { return v.is_string(); }))) {
      throw BadInput(file, kMetadata, "", "accepted: an object of strings");
    }
  }
  const std::uint64_t data_start = kLengthBytes + header_bytes;
  check_layout(file, entries, bytes.size - data_start);

  std::map<std::string, Tensor> tensors;
  for (const Entry& entry : entries)
    tensors.emplace(entry.name, tensor_in(bytes, data_start + entry.begin, entry.dtype, entry.shape));
  return tensors;
}

SafetensorsLayout safetensors_layout(std::span<const NamedShape> tensors,
                                     const std::map<std::string, std::string>& metadata) {
  std::vector<std::size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const auto key = [&](std::size_t i) {
      return std::pair(-static_cast<int>(bytes_of(tensors[i].dtype)), std::string_view(tensors[i].name));
    };
    return key(a) < key(b);
  });
  Json header = Json::object();
  if (!metadata.empty()) header[kMetadata] = metadata;
  SafetensorsLayout layout;
  layout.begin.resize(tensors.size());
  std::uint64_t offset = 0;
  for (const std::size_t i : order) {
    const auto& [name, dtype, shape] = tensors[i];
    if (name == kMetadata) throw std::invalid_argument("safetensors: a tensor cannot be named __metadata__");
    const std::uint64_t end = offset + static_cast<std::uint64_t>(element_count(shape)) * bytes_of(dtype);
    header[name] = {{"dtype", label_of(dtype)}, {"shape", shape}, {"data_offsets", {offset, end}}};
    layout.begin[i] = offset;
    offset = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = text.size();
  layout.head.resize(sizeof length);
  std::memcpy(layout.head.data(), &length, sizeof length);
  layout.head += text;
  for (std::uint64_t& begin : layout.begin) begin += layout.head.size();
  layout.size = layout.head.size() + offset;
  return layout;
}

void write_safetensors(const std::filesystem::path& path, const std::map<std::string, Tensor>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  std::vector<NamedShape> shapes;
  for (const auto& [name, tensor] : tensors) {
    if (tensor.empty()) throw std::invalid_argument("safetensors: tensor " + name + " has no storage");
    shapes.push_back({name, tensor.dtype(), tensor.shape()});
  }
  const SafetensorsLayout layout = safetensors_layout(shapes, metadata);
  std::multimap<std::uint64_t, const Tensor*> order;
  std::size_t i = 0;
  for (const auto& [name, tensor] : tensors) order.emplace(layout.begin[i++], &tensor);

  static std::atomic<unsigned> counter{0};  // two threads may write the same file: each has its own temporary one
  const std::filesystem::path temporary =
      path.string() + ".part-" + std::to_string(getpid()) + "-" + std::to_string(counter++);
  std::error_code error;
  errno = 0;
  std::ofstream out(temporary, std::ios::binary);
  out.write(layout.head.data(), static_cast<std::streamsize>(layout.head.size()));
  for (const auto& [begin, tensor] : order) {
    const auto bytes = tensor->bytes();
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  out.close();
  if (out.fail()) {
    error.assign(errno != 0 ? errno : EIO, std::generic_category());
  } else {
    std::filesystem::rename(temporary, path, error);
  }
  if (error) {
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    throw BadInput(path.string(), "", "", "cannot be written: " + error.message());
  }
}

}  // namespace ropewalk
