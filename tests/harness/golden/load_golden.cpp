#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

// The elements of one tensor of a safetensors file.
template <class T>
std::vector<T> load(const std::string& raw, const char* name) {
  std::uint64_t length = 0;
  std::memcpy(&length, raw.data(), sizeof length);
  const auto header = nlohmann::json::parse(raw.substr(8, length));
  const std::size_t begin = header.at(name).at("data_offsets")[0], end = header.at(name).at("data_offsets")[1];
  std::vector<T> out((end - begin) / sizeof(T));
  std::memcpy(out.data(), raw.data() + 8 + length + begin, end - begin);
  return out;
}

int main() {
  std::ifstream file("goldens/far-head_dim=128,base=10000,positions=log_spaced(2047..1048575;16)-float32.safetensors",
                     std::ios::binary);
  const std::string raw{std::istreambuf_iterator<char>(file), {}};
  const auto positions = load<std::int64_t>(raw, "positions");
  const auto cos = load<float>(raw, "cos");
  const std::size_t pairs = cos.size() / positions.size();
  std::printf("%.17g\n", cos[(positions.size() - 1) * pairs + 1]);  // row of position 1048575, the last
}
