#include "harness/report/text.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace ropewalk {
namespace {

// Length of the well-formed UTF-8 sequence at the front (Unicode 15, table 3-7), 0 if there is none.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xc2 && lead <= 0xdf   ? 2
                             : lead >= 0xe0 && lead <= 0xef ? 3
                             : lead >= 0xf0 && lead <= 0xf4 ? 4
                                                            : 0;
  if (length == 0 || text.size() < length) return 0;
  const std::uint8_t low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;   // no overlong forms
  const std::uint8_t high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;  // no surrogates, nothing past U+10FFFF
  if (byte(1) < low || byte(1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  return length;
}

bool is_control(std::string_view character) {
  const auto first = static_cast<std::uint8_t>(character[0]);
  if (character.size() == 1) return first < 0x20 || first == 0x7f;
  if (character.size() == 2)
    return first == 0xc2 && static_cast<std::uint8_t>(character[1]) < 0xa0;  // U+0080 to U+009F
  return character == "\xef\xbf\xbe" || character == "\xef\xbf\xbf";         // U+FFFE and U+FFFF are no characters
}

}  // namespace

std::string printable(std::string_view text, bool keep_lines) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    const std::string_view character = text.substr(0, length == 0 ? 1 : length);
    const bool kept_break = keep_lines && (character == "\n" || character == "\r" || character == "\t");
    if (kept_break || (length != 0 && !is_control(character))) {
      out += character;
    } else {
      for (const char c : character) out += fmt::format("\\x{:02x}", static_cast<std::uint8_t>(c));
    }
    text.remove_prefix(character.size());
  }
  return out;
}

std::string quoted(const std::string& path) {
  const bool plain = path.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+=,") ==
                     std::string::npos;
  if (plain) return path;
  std::string out = "'";
  for (const char c : path) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string unquoted(const std::string& word) {
  if (word.size() < 2 || word.front() != '\'') return word;
  std::string out;
  for (std::size_t i = 1; i + 1 < word.size(); ++i) {
    out += word[i];
    if (word[i] == '\'') i += 3;
  }
  return out;
}

std::string one_line(std::string_view text, std::size_t most) {
  std::string flat;
  for (const char c : text) {
    const bool space = c == ' ' || c == '\n' || c == '\r' || c == '\t';
    if (!space)
      flat += c;
    else if (!flat.empty() && flat.back() != ' ')
      flat += ' ';
  }
  if (!flat.empty() && flat.back() == ' ') flat.pop_back();
  flat = printable(flat);
  std::size_t characters = 0, cut = 0;
  for (std::size_t i = 0; i < flat.size(); ++i) {
    if ((static_cast<std::uint8_t>(flat[i]) & 0xc0) == 0x80) continue;
    if (characters + 3 == most) cut = i;
    if (++characters > most) return flat.substr(0, cut) + "...";
  }
  return flat;
}

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace ropewalk
