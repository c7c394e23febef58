#include "harness/golden/write.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <stdexcept>
#include <system_error>

#include "harness/bad_input.hpp"
#include "harness/golden/sha256.hpp"
#include "harness/golden/side_by_side.hpp"
#include "harness/report/json.hpp"

namespace ropewalk {
namespace {

constexpr std::size_t kLongestName = 255;  // bytes, on usual file systems

namespace fs = std::filesystem;

[[noreturn]] void cannot_write(const fs::path& path) {
  throw BadInput(path.string(), "", "", "cannot be written: " + std::generic_category().message(errno));
}

// A new file whose bytes come at any place.
class Target {
 public:
  explicit Target(fs::path path) : path_(std::move(path)) {
    descriptor_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0) cannot_write(path_);
  }
  ~Target() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  void put(std::uint64_t place, std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
      const ssize_t written = pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(place));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) cannot_write(path_);
      place += static_cast<std::uint64_t>(written);
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }
  void finish() {
    const int failed = close(descriptor_);
    descriptor_ = -1;
    if (failed != 0) cannot_write(path_);
  }

 private:
  fs::path path_;
  int descriptor_ = -1;
};

Made write_file(const fs::path& path, const GoldenFile& golden, const SafetensorsLayout& layout) {
  Target file(path);
  file.put(0, std::as_bytes(std::span(layout.head)));
  std::vector<std::uint64_t> next = layout.begin;
  std::vector<Sha256> hashes(golden.tensors.size());
  Made made;
  made.proofs = golden.make([&](std::size_t tensor, std::span<const std::byte> bytes) {
    file.put(next[tensor], bytes);
    next[tensor] += bytes.size();
    hashes[tensor].add(bytes);
  });
  file.finish();
  for (Sha256& hash : hashes) made.tensors_sha256.push_back(hash.hex());
  made.sha256 = sha256_of(path);
  for (std::size_t t = 0; t < made.proofs.size(); ++t)
    if (const std::int64_t open = made.proofs[t].undecided; open != 0)
      throw std::runtime_error(
          fmt::format("{}: {}: {} values could not be proved", path.string(), golden.tensors[t].name, open));
  return made;
}

void need_new_folder(const fs::path& folder) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem) throw BadInput("--out", "", folder.string(), "cannot be made: " + problem.message());
  if (!fs::is_empty(folder, problem) || problem)
    throw BadInput("--out", "", folder.string(), "a folder that is new or empty");
}

}  // namespace

GoldenTotals write_goldens(const std::vector<Case>& cells, const fs::path& folder, int jobs,
                           const std::function<void()>& done) {
  for (const Case& cell : cells)
    if (const std::size_t size = golden_file_name(cell.id).size(); size > kLongestName)
      throw BadInput(
          cell.file, cell.id, "",
          fmt::format("its golden file would have a name of {} bytes, from all fields of the case; at most {}", size,
                      kLongestName));
  need_new_folder(folder);
  std::vector<Json> entries(cells.size());
  GoldenTotals totals;
  std::mutex totals_guard;
  side_by_side(cells.size(), jobs, [&](std::size_t i) {
    const Case& cell = cells[i];
    const GoldenFile golden = golden_of(cell);
    const SafetensorsLayout layout = layout_of(golden, cell.id);
    Made made;
    try {
      made = write_file(folder / golden_file_name(cell.id), golden, layout);
    } catch (const std::invalid_argument& e) {
      throw BadInput(cell.file, cell.id, "", e.what());
    }
    entries[i] = entry_of(golden, cell.id, made);
    const std::lock_guard lock(totals_guard);
    totals += totals_of(golden, layout, made);
    done();
  });
  write_report(folder / kManifest, manifest_of(std::move(entries)));
  return totals;
}

}  // namespace ropewalk
