#include "harness/tensors/pickle.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "tests/harness/tensors/damage.hpp"

namespace ropewalk {
namespace {

using Kind = PickleValue::Kind;
using ::testing::HasSubstr;

constexpr std::array<std::string_view, 1> kAllowed{"collections.OrderedDict"};
const std::string kOrderedDict = "ccollections\nOrderedDict\n";

// A literal with its zero bytes.
template <std::size_t N>
std::string raw(const char (&literal)[N]) {
  return {literal, N - 1};
}

Pickle read(const std::string& operations) { return read_pickle(bytes_of_text("\x80\2" + operations), kAllowed); }
std::string refusal(const std::string& operations) {
  return complaint_of([&] { read(operations); });
}

TEST(Pickle, Numbers) {
  const Pickle list =
      read(raw("(K\x07M\x01\x02J\xff\xff\xff\xff\x8a\x02\x00\x80\x8a\x00G\x3f\xe0\0\0\0\0\0\0\x88\x89Nl."));
  const auto& items = list.root->items;
  ASSERT_EQ(items.size(), 9U);
  EXPECT_EQ(items[0]->whole, 7);
  EXPECT_EQ(items[1]->whole, 0x201);
  EXPECT_EQ(items[2]->whole, -1);
  EXPECT_EQ(items[3]->whole, -32768);
  EXPECT_EQ(items[4]->whole, 0);
  EXPECT_EQ(items[5]->real, 0.5);
  EXPECT_EQ(items[6]->whole, 1);
  EXPECT_EQ(items[7]->kind, Kind::boolean);
  EXPECT_EQ(items[8]->kind, Kind::none);
}

TEST(Pickle, ContainersShareWhatIsRemembered) {
  const Pickle pickle = read(raw("}(X\1\0\0\0a]q\1K\1aX\1\0\0\0bh\1u."));
  ASSERT_EQ(pickle.root->keys.size(), 2U);
  EXPECT_EQ(pickle.root->values[0], pickle.root->values[1]);
  EXPECT_EQ(pickle.root->values[0]->items[0]->whole, 1);
}

TEST(Pickle, AnAllowedCallIsNotedAndItsStateDropped) {
  const Pickle pickle = read(kOrderedDict + ")R}b.");
  EXPECT_EQ(pickle.root->kind, Kind::call);
  EXPECT_EQ(pickle.root->text, "collections.OrderedDict");
}

TEST(Pickle, CirclesDoNoHarm) { EXPECT_EQ(read("]q\1h\1a.").root->items[0]->kind, Kind::list); }

// What os.system('id') looks like in each of the ways to name a function.
TEST(Pickle, CodeIsRefusedByItsName) {
  EXPECT_THAT(refusal(raw("cos\nsystem\nX\2\0\0\0id\x85R.")), HasSubstr(R"(pickle: global "os.system": refused)"));
  EXPECT_THAT(refusal(raw("\x8c\2os\x8c\6system\x93X\2\0\0\0id\x85R.")), HasSubstr(R"(global "os.system": refused)"));
  EXPECT_THAT(refusal("cbuiltins\neval\n."), HasSubstr(R"("builtins.eval")"));
  EXPECT_THAT(refusal("ccollections.OrderedDict\n__init__\n."), HasSubstr(R"("collections.OrderedDict.__init__")"));
  EXPECT_THAT(refusal(raw("cos\nsys\0tem\n.")), HasSubstr(R"("os.sys\u0000tem")"));
  EXPECT_THAT(refusal("cos\n\xff\n."), HasSubstr("refused"));
}

TEST(Pickle, OnlyGlobalsAreCalled) {
  EXPECT_THAT(refusal("])R."), HasSubstr("calls what is no global"));
  EXPECT_THAT(refusal(kOrderedDict + "]R."), HasSubstr("calls what is no global"));
  EXPECT_THAT(refusal(kOrderedDict + ")R)R."), HasSubstr("calls what is no global"));
}

TEST(Pickle, StateIsSetOnlyOnWhatACallMade) {
  EXPECT_THAT(refusal("]}b."), HasSubstr("sets the state"));
  EXPECT_THAT(refusal(kOrderedDict + "}b."), HasSubstr("sets the state"));
  EXPECT_THAT(refusal(kOrderedDict + ")RK\1b."), HasSubstr("sets the state"));
}

// INST, OBJ, NEWOBJ, NEWOBJ_EX, EXT1, PERSID, INT, BINBYTES, EMPTY_SET, DUP.
TEST(Pickle, OperationsThatPlainDataDoesNotNeed) {
  for (const char operation : std::string("io\x81\x92\x82PIB\x8f"
                                          "2"))
    EXPECT_THAT(refusal(std::string("(") + operation + "os\nsystem\n."),
                HasSubstr("operation " + std::to_string(static_cast<unsigned char>(operation)) + ": not one that"));
}

TEST(Pickle, DamagedOnes) {
  EXPECT_THAT(complaint_of([] { read_pickle(bytes_of_text(""), kAllowed); }), HasSubstr("truncated"));
  EXPECT_THAT(complaint_of([] { read_pickle(bytes_of_text("(lp0\n."), kAllowed); }), HasSubstr("protocols 0 and 1"));
  EXPECT_THAT(complaint_of([] { read_pickle(bytes_of_text("\x80\x06N."), kAllowed); }),
              HasSubstr("protocol 6: accepted: 2 to 5"));
  EXPECT_THAT(refusal(""), HasSubstr("truncated"));
  EXPECT_THAT(refusal("."), HasSubstr("takes more from its stack than is there"));
  EXPECT_THAT(refusal("N.N"), HasSubstr("goes on after its end"));
  EXPECT_THAT(refusal("\x80\2N."), HasSubstr("given twice"));
  EXPECT_THAT(refusal("t."), HasSubstr("takes more"));
  EXPECT_THAT(refusal("N(\x85."), HasSubstr("takes more")) << "from below a mark";
  EXPECT_THAT(refusal("h\5."), HasSubstr("refers to value 5"));
  EXPECT_THAT(refusal("cos\nsystem"), HasSubstr("truncated"));
  EXPECT_THAT(refusal("X\xff\xff\xff\xff"
                      "a."),
              HasSubstr("truncated"));
  EXPECT_THAT(refusal("\x8d\xff\xff\xff\xff\xff\xff\xff\xff"
                      "a."),
              HasSubstr("truncated"));
  EXPECT_THAT(refusal("\x8a\x09"
                      "123456789."),
              HasSubstr("more than 64 bits"));
  EXPECT_THAT(refusal("K\1K\1a."), HasSubstr("appends to what is no list"));
  EXPECT_THAT(refusal("]K\1K\1s."), HasSubstr("no dict"));
  EXPECT_THAT(refusal("}(K\1u."), HasSubstr("a key without a value"));
  EXPECT_THAT(refusal("K\1K\1\x93."), HasSubstr("a global without a name"));
}

}  // namespace
}  // namespace ropewalk
