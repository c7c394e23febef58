#include "harness/report/junit.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "harness/report/numbers.hpp"
#include "harness/report/text.hpp"

namespace ropewalk {
namespace {

// For attributes and for text. Control characters are not XML, not even as references: printable() spells them out.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text, true)) switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\n':
        out += "&#10;";
        break;
      case '\r':
        out += "&#13;";
        break;
      case '\t':
        out += "&#9;";
        break;
      default:
        out += c;
    }
  return out;
}

struct Counts {
  std::int64_t tests = 0, failures = 0, errors = 0, skipped = 0;
};

std::string counts_text(const Counts& c) {
  return fmt::format(R"(tests="{}" failures="{}" errors="{}" skipped="{}")", c.tests, c.failures, c.errors, c.skipped);
}

std::string body_of(const Result& r) {
  std::string text = r.reason;
  const auto add = [&](const std::string& line) { text += (text.empty() ? "" : "\n") + line; };
  if (!r.first_stage.empty()) add("starts at " + r.first_stage);
  if (r.worst)
    add(fmt::format("position {}, pair {}: got {} ({}), expected {} ({})", r.worst->position, r.worst->pair,
                    decimal(r.worst->got), hex_float(r.worst->got), decimal(r.worst->expected),
                    hex_float(r.worst->expected)));
  if (!r.rerun.empty()) add(r.rerun);
  return text;
}

std::string testcase(const Result& r, Counts& counts) {
  ++counts.tests;
  std::string out =
      fmt::format(R"(    <testcase classname="{}" name="{}")", escaped(r.suite + "." + r.case_name), escaped(r.id));
  if (!r.unexpected && r.verdict != Verdict::skipped) return out + "/>\n";
  out += ">\n";
  if (!r.unexpected) {
    ++counts.skipped;
    out += fmt::format("      <skipped message=\"{}\"/>\n", escaped(r.reason));
  } else {
    const bool error = r.verdict == Verdict::error;
    ++(error ? counts.errors : counts.failures);
    const std::string message = fmt::format("{}, expected {}: {}", name_of(r.verdict), name_of(r.expected), r.reason);
    out += fmt::format("      <{0} type=\"{1}\" message=\"{2}\">{3}</{0}>\n", error ? "error" : "failure",
                       name_of(r.verdict), escaped(one_line(message, 300)), escaped(body_of(r)));
  }
  return out + "    </testcase>\n";
}

std::string interrupted(Counts& counts) {
  ++counts.tests;
  ++counts.errors;
  return "    <testcase classname=\"ropewalk\" name=\"complete\">\n"
         "      <error type=\"interrupted\" message=\"the run was interrupted: not every check was made\"/>\n"
         "    </testcase>\n";
}

}  // namespace

std::string junit_text(const Report& report) {
  struct Suite {
    std::string name, body;
    Counts counts;
  };
  std::vector<Suite> suites;
  std::map<std::string, std::size_t> index;
  const auto suite_named = [&](const std::string& name) -> Suite& {
    const auto [entry, is_new] = index.emplace(name, suites.size());
    if (is_new) suites.push_back({name, "", {}});
    return suites[entry->second];
  };
  for (const Result& result : report.results) {
    Suite& suite = suite_named(result.suite + "/" + result.case_name);
    suite.body += testcase(result, suite.counts);
  }
  if (!report.complete) {
    Suite& suite = suite_named("ropewalk");
    suite.body += interrupted(suite.counts);
  }

  Counts all;
  std::string body;
  for (const Suite& suite : suites) {
    all.tests += suite.counts.tests;
    all.failures += suite.counts.failures;
    all.errors += suite.counts.errors;
    all.skipped += suite.counts.skipped;
    body += fmt::format("  <testsuite name=\"{}\" {}>\n{}  </testsuite>\n", escaped(suite.name),
                        counts_text(suite.counts), suite.body);
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"ropewalk\" {} "
      "time=\"{:.3f}\">\n{}</testsuites>\n",
      counts_text(all), report.seconds, body);
}

}  // namespace ropewalk
