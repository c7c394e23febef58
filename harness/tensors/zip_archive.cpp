#include "harness/tensors/zip_archive.hpp"

#include <zip.h>

#include <algorithm>

namespace ropewalk {
namespace {

// Deflate's best: 258 bytes for two bits (RFC 1951, 3.2.5). A few bytes more for what the stream needs at its ends.
constexpr std::uint64_t kMostExpansion = 1032;
constexpr std::uint64_t kMostInflated = std::uint64_t{8} << 30;

std::string member_field(const std::string& name) { return "member " + quoted_name(name); }

FileBytes member_of(const FileBytes& archive, const std::string& name) {
  return {archive.file, member_field(name), nullptr, 0};
}

zip* open_archive(const FileBytes& bytes) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(bytes.start.get(), bytes.size, 0, &error);
  zip* archive = source == nullptr ? nullptr : zip_open_from_source(source, ZIP_RDONLY, &error);
  const std::string reason = archive == nullptr ? zip_error_strerror(&error) : "";
  if (archive == nullptr && source != nullptr) zip_source_free(source);
  zip_error_fini(&error);
  if (archive == nullptr) bytes.refuse("", "", "damaged zip archive: " + reason);
  return archive;
}

}  // namespace

ZipArchive::ZipArchive(const FileBytes& bytes)
    : bytes_(bytes), zip_(open_archive(bytes), [](zip* archive) { zip_discard(archive); }) {
  std::uint64_t compressed = 0, inflated = 0;
  const auto count = static_cast<std::uint64_t>(std::max<zip_int64_t>(zip_get_num_entries(zip_.get(), 0), 0));
  for (std::uint64_t i = 0; i < count; ++i) {
    zip_stat_t facts;
    if (zip_stat_index(zip_.get(), i, 0, &facts) != 0 || facts.name == nullptr)
      bytes.refuse("", "", "damaged zip archive: no facts about member " + std::to_string(i));
    const FileBytes member = member_of(bytes, facts.name);
    if (!members_.emplace(facts.name, i).second) member.refuse("", "", "given twice");
    if (facts.encryption_method != ZIP_EM_NONE) member.refuse("", "", "encrypted; accepted: plain members");
    if (facts.comp_method != ZIP_CM_STORE && facts.comp_method != ZIP_CM_DEFLATE)
      member.refuse("compression", std::to_string(facts.comp_method), "accepted: 0 (stored), 8 (deflated)");
    compressed += facts.comp_size;
    const bool stored = facts.comp_method == ZIP_CM_STORE;
    // Members that share bytes of the archive add up to more than it has.
    if (facts.comp_size > bytes.size || compressed > bytes.size)
      member.refuse("", std::to_string(facts.comp_size) + " bytes", "more than the archive has, with those before it");
    if (stored ? facts.size != facts.comp_size : facts.size / kMostExpansion > facts.comp_size)
      member.refuse("", std::to_string(facts.size) + " bytes",
                    std::to_string(facts.comp_size) + " bytes in the archive cannot give as many");
    if (!stored) inflated += facts.size;
    if (inflated > kMostInflated)
      member.refuse("", "", "more than 8 GiB with those before it; accepted: large files without compression");
  }
}

FileBytes ZipArchive::read(const std::string& name) const {
  FileBytes member = member_of(bytes_, name);
  const auto found = members_.find(name);
  zip_stat_t facts;
  zip_file_t* file = nullptr;
  if (found == members_.end() || zip_stat_index(zip_.get(), found->second, 0, &facts) != 0)
    member.refuse("", "", "missing in the archive");
  file = zip_fopen_index(zip_.get(), found->second, 0);
  if (file == nullptr) member.refuse("", "", std::string("damaged: ") + zip_strerror(zip_.get()));
  const std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> closing(file, zip_fclose);

  Tensor memory(DType::uint8, {static_cast<std::int64_t>(facts.size)});  // aligned for every type
  std::uint64_t got = 0;
  const auto more = [&](void* to, std::uint64_t wanted) {
    const zip_int64_t count = zip_fread(file, to, wanted);
    if (count < 0) member.refuse("", "", std::string("damaged: ") + zip_error_strerror(zip_file_get_error(file)));
    return static_cast<std::uint64_t>(count);
  };
  while (got < facts.size) {
    const std::uint64_t count = more(memory.bytes().data() + got, facts.size - got);
    if (count == 0)
      member.refuse("", std::to_string(got) + " bytes", "the archive promises " + std::to_string(facts.size));
    got += count;
  }
  std::byte beyond{};  // only who reads to the end has the checksum verified
  if (more(&beyond, 1) != 0) member.refuse("", "", "longer than the " + std::to_string(facts.size) + " bytes promised");

  member.size = facts.size;
  const auto owner = std::make_shared<Tensor>(std::move(memory));
  member.start = {owner, owner->bytes().data()};
  return member;
}

}  // namespace ropewalk
