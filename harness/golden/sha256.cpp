#include "harness/golden/sha256.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <fstream>
#include <stdexcept>
#include <vector>

#include "harness/bad_input.hpp"

namespace ropewalk {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 20;

void need(int success) {
  if (success != 1) throw std::runtime_error("libcrypto refuses SHA-256");
}

}  // namespace

Sha256::Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
  need(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr));
}

void Sha256::add(std::span<const std::byte> bytes) {
  need(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()));
}

std::string Sha256::hex() {
  std::array<unsigned char, 32> digest{};
  need(EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr));
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

std::string sha256_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> block(kBlock);
  Sha256 hash;
  while (file) {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    hash.add(std::as_bytes(std::span(block).first(static_cast<std::size_t>(file.gcount()))));
  }
  if (!file.eof()) throw BadInput(path.string(), "", "", "a file that can be read is needed");
  return hash.hex();
}

}  // namespace ropewalk
