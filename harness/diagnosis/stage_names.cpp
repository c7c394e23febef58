#include "harness/diagnosis/stage_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "harness/bad_input.hpp"
#include "harness/cases/fields.hpp"

namespace ropewalk {
namespace {

struct Words {
  const char* stage;
  std::vector<std::string_view> words;
};

// What projects call the stages; the first word is the stage's own name.
const std::array<Words, 6>& vocabulary() {
  static const std::array<Words, 6> words{{{"positions", {"positions", "position_ids", "position", "pos", "input_pos"}},
                                           {"inv_freq", {"inv_freq", "inv_freqs", "inverse_frequencies", "theta"}},
                                           {"angle", {"angle", "angles", "freqs", "idx_theta"}},
                                           {"cos", {"cos", "cosine", "cosines"}},
                                           {"sin", {"sin", "sine", "sines"}},
                                           {kCosAndSin, {kCosAndSin, "freqs_cis"}}}};
  return words;
}

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

std::string lowered(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const std::string_view tail : {"_cached", "_cache", "_table", "_emb", "_embed"})
    if (text.size() > tail.size() && text.ends_with(tail)) text.resize(text.size() - tail.size());
  return text;
}

std::string last_part(const std::string& name) {
  const std::size_t cut = name.find_last_of("./:");
  return cut == std::string::npos ? name : name.substr(cut + 1);
}

// How well a name fits: 0 exactly, 1 its last part, 2 its ending; 3 not at all. The longer word wins among endings, so
// that `inv_freqs` is no `freqs`.
struct Fit {
  int rank = 3;
  std::size_t length = 0;
  std::string_view stage;
};

Fit fit_of(const std::string& name) {
  Fit best;
  const std::string last = lowered(last_part(name));
  for (const Words& entry : vocabulary()) {
    for (const std::string_view word : entry.words) {
      Fit fit{3, word.size(), entry.stage};
      if (name == entry.stage)
        fit.rank = 0;
      else if (last == word)
        fit.rank = 1;
      else if (last.size() > word.size() && last.ends_with(word) && !is_letter(last[last.size() - word.size() - 1]))
        fit.rank = 2;
      if (fit.rank < best.rank || (fit.rank == best.rank && fit.rank < 3 && fit.length > best.length)) best = fit;
    }
  }
  return best;
}

std::string contents_of(const std::map<std::string, Tensor>& tensors) {
  constexpr std::size_t kMost = 12;
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors)
    if (names.size() < kMost) names.push_back(name);
  std::string text = tensors.empty() ? "the file has no tensor" : "the file has: " + joined(names);
  return tensors.size() > kMost ? text + fmt::format(" and {} more", tensors.size() - kMost) : text;
}

// The tensors that fit a stage best; of several equal ones the first.
void choose(const std::string& file, const std::map<std::string, Tensor>& tensors, const std::string& stage,
            NamedStages& out) {
  int rank = 3;
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors) {
    const Fit fit = fit_of(name);
    if (fit.stage != stage || fit.rank > rank || fit.rank == 3) continue;
    if (fit.rank < rank) names.clear();
    rank = fit.rank;
    names.push_back(name);
  }
  if (names.empty()) return;
  for (const std::string& name : names)
    if (!same_bits(tensors.at(name), tensors.at(names.front())))
      throw BadInput(file, stage, joined(names), "several tensors fit and differ; --map " + stage + "=NAME chooses");
  if (names.size() > 1)
    out.notes.push_back(
        fmt::format("{} tensors fit {} and are the same bits; {} stands for them", names.size(), stage, names.front()));
  out.tensor_of[stage] = names.front();
}

}  // namespace

NamedStages find_stages(const std::string& file, const std::map<std::string, Tensor>& tensors,
                        const std::map<std::string, std::string>& map) {
  std::vector<std::string> stages;
  for (const Words& entry : vocabulary()) stages.emplace_back(entry.stage);
  NamedStages out;
  for (const auto& [stage, name] : map) {
    if (std::find(stages.begin(), stages.end(), stage) == stages.end())
      throw BadInput("--map", "", stage, "a stage is needed, one of " + joined(stages));
    if (!tensors.contains(name))
      throw BadInput(file, "--map " + stage, name, "no such tensor; " + contents_of(tensors));
    out.tensor_of[stage] = name;
  }
  for (const std::string& stage : stages)
    if (!out.tensor_of.contains(stage)) choose(file, tensors, stage, out);
  if (out.tensor_of.contains("cos") && out.tensor_of.contains("sin") && !map.contains(kCosAndSin))
    out.tensor_of.erase(kCosAndSin);
  if (out.tensor_of.size() == out.tensor_of.count("positions"))
    throw BadInput(file, "", "", "no stage found; " + contents_of(tensors) + "; --map cos=NAME names one");
  return out;
}

}  // namespace ropewalk
