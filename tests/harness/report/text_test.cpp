#include "harness/report/text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ropewalk {
namespace {

TEST(Printable, LeavesText) {
  EXPECT_EQ(printable("a \xc3\xbc \xe2\x88\x9a \xf0\x9f\x98\x80"), "a \xc3\xbc \xe2\x88\x9a \xf0\x9f\x98\x80");
}

TEST(Printable, SpellsControlCharactersOut) {
  EXPECT_EQ(printable(std::string("\0\x1b[2J\x7f\n", 7)), "\\x00\\x1b[2J\\x7f\\x0a");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "\\xc2\\x9b"
            "2J");  // the C1 form of ESC [
  EXPECT_EQ(printable("a\r\n\tb\a", true), "a\r\n\tb\\x07");
}

TEST(Printable, SpellsBrokenUtf8Out) {
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("\xc3("), "\\xc3(");
  EXPECT_EQ(printable("\xe2\x88"), "\\xe2\\x88");                    // cut off
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");                    // overlong
  EXPECT_EQ(printable("\xe0\x80\x80"), "\\xe0\\x80\\x80");           // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // past U+10FFFF
  EXPECT_EQ(printable("\xef\xbf\xbf"), "\\xef\\xbf\\xbf");           // no character
}

TEST(OneLine, JoinsLinesAndCuts) {
  EXPECT_EQ(one_line("  a\r\n\t b \n", 9), "a b");
  EXPECT_EQ(one_line("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(one_line("abcdefghijk", 10), "abcdefg...");
  EXPECT_EQ(one_line("\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc", 5), "\xc3\xbc\xc3\xbc...");
  EXPECT_EQ(one_line("", 5), "");
}

TEST(Counted, AddsAnS) {
  EXPECT_EQ(counted(0, "cell"), "0 cells");
  EXPECT_EQ(counted(1, "cell"), "1 cell");
  EXPECT_EQ(counted(2, "cell"), "2 cells");
}

TEST(Quoted, ComesBack) {
  EXPECT_EQ(quoted("cases/seed-1,a=b.json"), "cases/seed-1,a=b.json");
  EXPECT_EQ(quoted("it's $x"), R"('it'\''s $x')");
  for (const std::string path : {"a.json", "with space", "it's", "''", "'a", "b'", "ü"})
    EXPECT_EQ(unquoted(quoted(path)), path);
}

}  // namespace
}  // namespace ropewalk
