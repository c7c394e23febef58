#include "harness/tensors/pickle.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <unordered_map>
#include <utility>

namespace ropewalk {
namespace {

using Kind = PickleValue::Kind;
constexpr std::uint8_t kNewestProtocol = 5;

// pickletools' names; those that are not here are refused.
enum Op : std::uint8_t {
  MARK = '(',
  STOP = '.',
  POP = '0',
  BININT = 'J',
  BININT1 = 'K',
  BININT2 = 'M',
  NONE = 'N',
  BINPERSID = 'Q',
  REDUCE = 'R',
  BINUNICODE = 'X',
  APPEND = 'a',
  BUILD = 'b',
  GLOBAL = 'c',
  DICT = 'd',
  EMPTY_DICT = '}',
  APPENDS = 'e',
  BINGET = 'h',
  LONG_BINGET = 'j',
  LIST = 'l',
  EMPTY_LIST = ']',
  BINPUT = 'q',
  LONG_BINPUT = 'r',
  SETITEM = 's',
  TUPLE = 't',
  EMPTY_TUPLE = ')',
  SETITEMS = 'u',
  BINFLOAT = 'G',
  PROTO = 0x80,
  TUPLE1 = 0x85,
  TUPLE2 = 0x86,
  TUPLE3 = 0x87,
  NEWTRUE = 0x88,
  NEWFALSE = 0x89,
  LONG1 = 0x8a,
  SHORT_BINUNICODE = 0x8c,
  BINUNICODE8 = 0x8d,
  STACK_GLOBAL = 0x93,
  MEMOIZE = 0x94,
  FRAME = 0x95,
};

class Machine {
 public:
  Machine(const FileBytes& bytes, std::span<const std::string_view> allowed) : bytes_(bytes), allowed_(allowed) {}

  Pickle run() {
    if (number<std::uint8_t>() != PROTO) refuse("", "protocols 0 and 1 are not read; accepted: 2 to 5");
    if (const int protocol = number<std::uint8_t>(); protocol < 2 || protocol > kNewestProtocol)
      refuse("protocol " + std::to_string(protocol), "accepted: 2 to 5");
    while (step(number<std::uint8_t>())) {
    }
    if (next_ != bytes_.size) refuse("", "goes on after its end");
    pickle_.root = pop();
    return std::move(pickle_);
  }

 private:
  [[noreturn]] void refuse(const std::string& value, const std::string& why) const {
    bytes_.refuse("pickle", value, why);
  }

  // False at the end.
  bool step(std::uint8_t op) {
    switch (op) {
      case STOP:
        return false;
      case PROTO:
        refuse("", "a protocol is given twice");
      case FRAME:
        take(8);  // only tells how much to read at once
        break;
      case MARK:
        marks_.push_back(stack_.size());
        break;
      case POP:
        pop();
        break;
      case NONE:
        push(Kind::none);
        break;
      case NEWTRUE:
      case NEWFALSE:
        push(Kind::boolean).whole = op == NEWTRUE ? 1 : 0;
        break;
      case BININT:
        push(Kind::whole).whole = number<std::int32_t>();
        break;
      case BININT1:
        push(Kind::whole).whole = number<std::uint8_t>();
        break;
      case BININT2:
        push(Kind::whole).whole = number<std::uint16_t>();
        break;
      case LONG1:
        push(Kind::whole).whole = long_integer();
        break;
      case BINFLOAT:
        push(Kind::real).real = big_endian_double();
        break;
      case SHORT_BINUNICODE:
        push(Kind::text).text = take(number<std::uint8_t>());
        break;
      case BINUNICODE:
        push(Kind::text).text = take(number<std::uint32_t>());
        break;
      case BINUNICODE8:
        push(Kind::text).text = take(number<std::uint64_t>());
        break;
      case EMPTY_TUPLE:
        push(Kind::tuple);
        break;
      case TUPLE1:
        push_tuple(1);
        break;
      case TUPLE2:
        push_tuple(2);
        break;
      case TUPLE3:
        push_tuple(3);
        break;
      case TUPLE:
        push_all(Kind::tuple, above_mark());
        break;
      case EMPTY_LIST:
        push(Kind::list);
        break;
      case LIST:
        push_all(Kind::list, above_mark());
        break;
      case APPEND: {
        const PickleValue* item = pop();
        append({item});
        break;
      }
      case APPENDS:
        append(above_mark());
        break;
      case EMPTY_DICT:
        push(Kind::dict);
        break;
      case DICT: {
        const auto items = above_mark();
        push(Kind::dict);
        set(items);
        break;
      }
      case SETITEM: {
        const PickleValue* value = pop();
        const PickleValue* key = pop();
        set({key, value});
        break;
      }
      case SETITEMS:
        set(above_mark());
        break;
      case BINPUT:
        memo_[number<std::uint8_t>()] = top();
        break;
      case LONG_BINPUT:
        memo_[number<std::uint32_t>()] = top();
        break;
      case MEMOIZE: {
        const auto index = static_cast<std::uint32_t>(memo_.size());
        memo_[index] = top();
        break;
      }
      case BINGET:
        push_remembered(number<std::uint8_t>());
        break;
      case LONG_BINGET:
        push_remembered(number<std::uint32_t>());
        break;
      case GLOBAL: {
        const std::string module = line();
        push_global(module, line());
        break;
      }
      case STACK_GLOBAL: {
        const PickleValue* name = pop();
        const PickleValue* module = pop();
        if (name->kind != Kind::text || module->kind != Kind::text) refuse("", "a global without a name");
        push_global(module->text, name->text);
        break;
      }
      case BINPERSID: {
        const PickleValue* id = pop();
        push(Kind::persistent).items = {id};
        break;
      }
      case REDUCE:
        call();
        break;
      case BUILD:
        build();
        break;
      default:
        refuse("operation " + std::to_string(op), "not one that plain tensors, lists, dicts, numbers and texts need");
    }
    return true;
  }

  std::string take(std::uint64_t count) {
    if (count > bytes_.size - next_) refuse("", "truncated");
    const char* start = bytes_.text() + next_;
    next_ += count;
    return {start, static_cast<std::size_t>(count)};
  }
  template <class T>
  T number() {
    const std::string raw = take(sizeof(T));
    T value;
    std::memcpy(&value, raw.data(), sizeof(T));
    return value;
  }
  std::int64_t long_integer() {
    const std::string raw = take(number<std::uint8_t>());
    if (raw.size() > 8) refuse("", "a whole number of more than 64 bits");
    std::int64_t value = !raw.empty() && (raw.back() & 0x80) != 0 ? -1 : 0;  // two's complement, little endian
    std::memcpy(&value, raw.data(), raw.size());
    return value;
  }
  double big_endian_double() {
    std::string raw = take(8);
    std::reverse(raw.begin(), raw.end());
    double value = 0;
    std::memcpy(&value, raw.data(), 8);
    return value;
  }
  std::string line() {
    const std::string_view rest(bytes_.text() + next_, bytes_.size - next_);
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) refuse("", "truncated");
    next_ += end + 1;
    return std::string(rest.substr(0, end));
  }

  PickleValue& push(Kind kind) {
    PickleValue& value = pickle_.values.emplace_back();
    value.kind = kind;
    stack_.push_back(&value);
    return value;
  }
  void push_all(Kind kind, std::vector<const PickleValue*> items) { push(kind).items = std::move(items); }
  void push_tuple(std::size_t count) {
    std::vector<const PickleValue*> items(count);
    for (std::size_t i = count; i-- > 0;) items[i] = pop();
    push_all(Kind::tuple, std::move(items));
  }
  void push_remembered(std::uint32_t index) {
    const auto found = memo_.find(index);
    if (found == memo_.end()) refuse("", "refers to value " + std::to_string(index) + ", which it has not given");
    stack_.push_back(found->second);
  }
  void push_global(const std::string& module, const std::string& name) {
    const std::string full = module + "." + name;
    if (std::find(allowed_.begin(), allowed_.end(), full) == allowed_.end())
      refuse("global " + quoted_name(full),
             "refused: nothing of a file is run, and plain tensors, lists, dicts, numbers and texts do not need it");
    push(Kind::global).text = full;
  }

  std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  PickleValue* top() const {
    if (stack_.size() <= floor()) refuse("", "takes more from its stack than is there");
    return stack_.back();
  }
  PickleValue* pop() {
    PickleValue* value = top();
    stack_.pop_back();
    return value;
  }
  std::vector<const PickleValue*> above_mark() {
    if (marks_.empty()) refuse("", "takes more from its stack than is there");
    std::vector<const PickleValue*> items(stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back()), stack_.end());
    stack_.resize(marks_.back());
    marks_.pop_back();
    return items;
  }

  void append(const std::vector<const PickleValue*>& items) {
    PickleValue* list = top();
    if (list->kind != Kind::list) refuse("", "appends to what is no list");
    list->items.insert(list->items.end(), items.begin(), items.end());
  }
  void set(const std::vector<const PickleValue*>& items) {
    PickleValue* dict = top();
    if (dict->kind != Kind::dict && dict->kind != Kind::call) refuse("", "sets an item of what is no dict");
    if (items.size() % 2 != 0) refuse("", "sets a key without a value");
    for (std::size_t i = 0; i < items.size(); i += 2) {
      dict->keys.push_back(items[i]);
      dict->values.push_back(items[i + 1]);
    }
  }
  void call() {
    const PickleValue* arguments = pop();
    const PickleValue* callee = pop();
    if (callee->kind != Kind::global || arguments->kind != Kind::tuple) refuse("", "calls what is no global");
    PickleValue& made = push(Kind::call);
    made.text = callee->text;
    made.items = {arguments};
  }
  void build() {
    const PickleValue* state = pop();
    const PickleValue* object = top();
    if (object->kind != Kind::call || state->kind != Kind::dict)
      refuse("", "sets the state of an object in a way that plain data does not need");
  }

  const FileBytes& bytes_;
  std::span<const std::string_view> allowed_;
  std::uint64_t next_ = 0;
  Pickle pickle_;
  std::vector<PickleValue*> stack_;
  std::vector<std::size_t> marks_;  // heights of the stack
  std::unordered_map<std::uint32_t, PickleValue*> memo_;
};

}  // namespace

Pickle read_pickle(const FileBytes& bytes, std::span<const std::string_view> allowed_globals) {
  return Machine(bytes, allowed_globals).run();
}

}  // namespace ropewalk
