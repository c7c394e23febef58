#include "harness/golden/verify.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <set>
#include <stdexcept>

#include "harness/bad_input.hpp"
#include "harness/golden/sha256.hpp"
#include "harness/golden/side_by_side.hpp"
#include "harness/report/numbers.hpp"

namespace ropewalk {
namespace {

namespace fs = std::filesystem;

class Source {
 public:
  explicit Source(const fs::path& path) : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~Source() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  bool readable() const { return descriptor_ >= 0; }

  // False where the file ends or cannot be read.
  bool get(std::uint64_t place, std::span<std::byte> bytes) const {
    while (!bytes.empty()) {
      const ssize_t got = pread(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(place));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      place += static_cast<std::uint64_t>(got);
      bytes = bytes.subspan(static_cast<std::size_t>(got));
    }
    return true;
  }

 private:
  int descriptor_;
};

// "0x1.8p-1 (0.75, bits 0x3f400000)"
std::string element_text(DType dtype, std::span<const std::byte> bytes) {
  Tensor one(dtype, {1});
  std::copy(bytes.begin(), bytes.end(), one.bytes().begin());
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes.data(), bytes.size());
  const double value = to_doubles(one)[0];
  return fmt::format("{} ({}, bits {:#0{}x})", hex_float(value), decimal(value), bits, 2 + 2 * bytes.size());
}

std::string index_text(std::int64_t flat, const Shape& shape) {
  std::vector<std::int64_t> index(shape.size());
  for (std::size_t d = shape.size(); d-- > 0; flat /= shape[d]) index[d] = flat % shape[d];
  return fmt::format("[{}]", fmt::join(index, ", "));
}

// The elements of one tensor that are not what they should be.
struct Differences {
  std::int64_t count = 0;
  std::string first;
};

void compare_block(const GoldenTensor& tensor, std::uint64_t offset, std::span<const std::byte> got,
                   std::span<const std::byte> exact, Differences& out) {
  if (std::memcmp(got.data(), exact.data(), exact.size()) == 0) return;
  const std::size_t size = bytes_of(tensor.dtype);
  for (std::size_t byte = 0; byte < exact.size(); byte += size) {
    const auto a = got.subspan(byte, size), b = exact.subspan(byte, size);
    if (std::equal(a.begin(), a.end(), b.begin())) continue;
    if (out.count++ == 0)
      out.first = fmt::format("{}: got {}, exact {}",
                              index_text(static_cast<std::int64_t>((offset + byte) / size), tensor.shape),
                              element_text(tensor.dtype, a), element_text(tensor.dtype, b));
  }
}

// Where two versions of a manifest's entry differ, field by field.
void compare_json(const Json& written, const Json& exact, const std::string& path, std::vector<std::string>& wrong) {
  if (written == exact) return;
  if (written.is_object() && exact.is_object()) {
    std::set<std::string> names;
    for (const Json* side : {&written, &exact})
      for (const auto& [name, value] : side->items()) names.insert(name);
    for (const std::string& name : names) {
      const std::string field = path + "." + name;
      if (!written.contains(name))
        wrong.push_back(fmt::format("{}: {}: this field is missing", kManifest, field));
      else if (!exact.contains(name))
        wrong.push_back(fmt::format("{}: {}: unknown field", kManifest, field));
      else
        compare_json(written[name], exact[name], field, wrong);
    }
  } else if (written.is_array() && exact.is_array() && written.size() == exact.size()) {
    for (std::size_t i = 0; i < written.size(); ++i)
      compare_json(written[i], exact[i], fmt::format("{}[{}]", path, i), wrong);
  } else {
    wrong.push_back(fmt::format("{}: {}: got {}, exact {}", kManifest, path, written.dump(), exact.dump()));
  }
}

// One file against what its definition gives.
std::vector<std::string> verify_file(const fs::path& folder, const ManifestEntry& entry, GoldenTotals& totals) {
  std::vector<std::string> wrong;
  const fs::path path = folder / entry.file;
  const GoldenFile& golden = entry.golden;
  const std::vector<std::string> unreadable{entry.file + ": missing, or cannot be read"};
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return unreadable;  // before a pipe is opened, which waits for a writer
  const Source file(path);
  if (!file.readable()) return unreadable;
  const SafetensorsLayout layout = layout_of(golden, entry.case_id);
  if (const std::uint64_t size = fs::file_size(path); size != layout.size)
    wrong.push_back(fmt::format("{}: got {} bytes, exact {} bytes", entry.file, size, layout.size));
  std::vector<std::byte> got(layout.head.size());
  if (!file.get(0, got) || std::memcmp(got.data(), layout.head.data(), got.size()) != 0)
    wrong.push_back(entry.file + ": the header is not that of these tensors");

  std::vector<std::uint64_t> next = layout.begin;
  std::vector<Sha256> hashes(golden.tensors.size());
  std::vector<Differences> differences(golden.tensors.size());
  std::vector<bool> ended(golden.tensors.size());
  Made made;
  made.proofs = golden.make([&](std::size_t t, std::span<const std::byte> exact) {
    hashes[t].add(exact);
    got.resize(exact.size());
    if (!file.get(next[t], got))
      ended[t] = true;
    else
      compare_block(golden.tensors[t], next[t] - layout.begin[t], got, exact, differences[t]);
    next[t] += exact.size();
  });
  for (std::size_t t = 0; t < golden.tensors.size(); ++t) {
    const GoldenTensor& tensor = golden.tensors[t];
    made.tensors_sha256.push_back(hashes[t].hex());
    if (ended[t]) wrong.push_back(fmt::format("{}: {}: the file ends early", entry.file, tensor.name));
    if (const auto& [count, first] = differences[t]; count > 0)
      wrong.push_back(fmt::format("{}: {}{} ({} of {} elements differ)", entry.file, tensor.name, first, count,
                                  element_count(tensor.shape)));
  }
  // The hash of the file is that of other bytes than these, if any differs: what the manifest says is compared with it.
  made.sha256 = entry.written.value("sha256", "");
  if (const std::string is = sha256_of(path); is != made.sha256)
    wrong.push_back(fmt::format("{}: sha256 is {}, the manifest says {}", entry.file, is, made.sha256));
  compare_json(entry.written, entry_of(golden, entry.case_id, made), entry.path, wrong);
  totals = totals_of(golden, layout, made);
  return wrong;
}

}  // namespace

Verification verify_goldens(const fs::path& folder, const Manifest& manifest, int jobs,
                            const std::function<void()>& done) {
  Verification out;
  std::vector<std::vector<std::string>> wrong(manifest.entries.size());
  std::mutex totals_guard;
  side_by_side(wrong.size(), jobs, [&](std::size_t i) {
    GoldenTotals totals;
    try {
      wrong[i] = verify_file(folder, manifest.entries[i], totals);
    } catch (const std::invalid_argument& e) {
      throw BadInput((folder / kManifest).string(), manifest.entries[i].path + ".parameters", "", e.what());
    }
    const std::lock_guard lock(totals_guard);
    out.totals += totals;
    done();
  });
  for (auto& lines : wrong) std::move(lines.begin(), lines.end(), std::back_inserter(out.wrong));
  std::set<std::string> known{kManifest};
  for (const ManifestEntry& entry : manifest.entries) known.insert(entry.file);
  for (const auto& found : fs::directory_iterator(folder))
    if (const std::string name = found.path().filename().string(); !known.contains(name))
      out.wrong.push_back(name + ": not in the manifest");
  return out;
}

}  // namespace ropewalk
