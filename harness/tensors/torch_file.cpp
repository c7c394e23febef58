#include "harness/tensors/torch_file.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "harness/tensors/pickle.hpp"

namespace ropewalk {
namespace {

using Kind = PickleValue::Kind;

constexpr std::string_view kPickle = "data.pkl";
constexpr std::size_t kDeepest = 100;            // dicts in dicts
constexpr std::size_t kMostPlaces = 10'000'000;  // values that names lead to: a list may be in many lists
constexpr std::size_t kLongestName = 1000;
// A broadcast tensor repeats its storage: copies may have this beyond the size of the storages, in all.
constexpr std::int64_t kMostRepeated = std::int64_t{1} << 30;

constexpr std::string_view kOrderedDict = "collections.OrderedDict";
constexpr std::string_view kTensor = "torch._utils._rebuild_tensor_v2";
constexpr std::string_view kTensorWithDType = "torch._utils._rebuild_tensor_v3";  // dtypes younger than typed storages
constexpr std::string_view kParameter = "torch._utils._rebuild_parameter";
constexpr std::string_view kUntyped = "torch.storage.UntypedStorage";

struct TorchType {
  std::string_view storage, dtype;
  DType type;
};
constexpr std::array<TorchType, 13> kTypes{{{"torch.DoubleStorage", "torch.float64", DType::float64},
                                            {"torch.FloatStorage", "torch.float32", DType::float32},
                                            {"torch.BFloat16Storage", "torch.bfloat16", DType::bfloat16},
                                            {"torch.HalfStorage", "torch.float16", DType::float16},
                                            {"torch.LongStorage", "torch.int64", DType::int64},
                                            {"torch.IntStorage", "torch.int32", DType::int32},
                                            {"torch.ShortStorage", "torch.int16", DType::int16},
                                            {"torch.CharStorage", "torch.int8", DType::int8},
                                            {"torch.ByteStorage", "torch.uint8", DType::uint8},
                                            {"torch.BoolStorage", "torch.bool", DType::boolean},
                                            {"torch.ComplexFloatStorage", "torch.complex64", DType::complex64},
                                            {"", "torch.float8_e4m3fn", DType::float8_e4m3fn},
                                            {"", "torch.float8_e5m2", DType::float8_e5m2}}};

std::vector<std::string_view> allowed_globals() {
  std::vector<std::string_view> names{kOrderedDict, kTensor, kTensorWithDType, kParameter, kUntyped};
  for (const TorchType& type : kTypes) {
    names.push_back(type.dtype);
    if (!type.storage.empty()) names.push_back(type.storage);
  }
  return names;
}

// "archive/" of the member archive/data.pkl; nothing if there is none, or more than one.
std::optional<std::string> prefix_of(const ZipArchive& archive) {
  std::optional<std::string> prefix;
  for (const auto& [name, index] : archive.members()) {
    if (!name.ends_with(kPickle)) continue;
    const std::string before = name.substr(0, name.size() - kPickle.size());
    if (!before.empty() && before.find('/') != before.size() - 1) continue;
    if (prefix) return std::nullopt;
    prefix = before;
  }
  return prefix;
}

// The format came with a member that names the byte order in 2.1; what is older is little endian.
void check_byte_order(const ZipArchive& archive, const std::string& member) {
  if (!archive.members().contains(member)) return;
  const FileBytes order = archive.read(member);
  const std::string text(order.text(), order.size);
  if (text != "little") order.refuse("", quoted_name(text), "accepted: little");
}

class TorchReader {
 public:
  TorchReader(const FileBytes& pickle, const StorageSource& source) : pickle_(pickle), source_(source) {}

  std::map<std::string, Tensor> read(const std::string& lone_name) {
    const Pickle pickle = read_pickle(pickle_, allowed_globals());
    if (is_tensor(*pickle.root)) {
      tensors_.emplace(lone_name, tensor(*pickle.root, "tensor"));
    } else {
      walk(*pickle.root, "", 0);
    }
    if (tensors_.empty()) pickle_.refuse("", "", "no tensor in it");
    return std::move(tensors_);
  }

 private:
  static bool is_tensor(const PickleValue& value) { return value.kind == Kind::call && value.text != kOrderedDict; }

  std::string child_name(const std::string& name, const PickleValue& key) const {
    if (key.kind != Kind::text && key.kind != Kind::whole)
      pickle_.refuse(name, "", "a key that is neither text nor a whole number");
    const std::string own = key.kind == Kind::text ? key.text : std::to_string(key.whole);
    if (name.size() + own.size() > kLongestName)
      pickle_.refuse("", quoted_name(name + "."), "a name of more than 1000 characters");
    return name.empty() ? own : name + "." + own;
  }

  void walk(const PickleValue& value, const std::string& name, std::size_t depth) {
    if (depth > kDeepest) pickle_.refuse("", "", "more than 100 dicts in dicts, or one that contains itself");
    const bool is_dict = value.kind == Kind::dict || (value.kind == Kind::call && value.text == kOrderedDict);
    const bool is_list = value.kind == Kind::list || value.kind == Kind::tuple;
    if (!is_dict && !is_list && !is_tensor(value)) return;
    places_ += 1 + value.items.size() + value.values.size();
    if (places_ > kMostPlaces) pickle_.refuse("", "", "more than 10000000 values");
    if (is_tensor(value)) {
      const std::string field = "tensor " + quoted_name(name);
      if (!tensors_.emplace(name, tensor(value, field)).second) pickle_.refuse(field, "", "given twice");
      return;
    }
    if (is_dict && value.kind == Kind::call && !value.items.front()->items.empty())
      pickle_.refuse("", value.text, "called with arguments; accepted: none, its items are set afterwards");
    for (std::size_t i = 0; i < value.values.size(); ++i)
      if (value.values[i]->kind >= Kind::tuple) walk(*value.values[i], child_name(name, *value.keys[i]), depth + 1);
    if (!is_list) return;
    for (std::size_t i = 0; i < value.items.size(); ++i)
      walk(*value.items[i], (name.empty() ? "" : name + ".") + std::to_string(i), depth + 1);
  }

  // The arguments of a call, as many as are needed at least.
  std::span<const PickleValue* const> arguments(const PickleValue& call, std::size_t least,
                                                const std::string& field) const {
    const auto& given = call.items.front()->items;
    if (given.size() < least) pickle_.refuse(field, call.text, "called with too few arguments");
    return given;
  }

  Shape numbers(const PickleValue& value, const std::string& field, const char* what) const {
    const auto refuse = [&] { pickle_.refuse(field, what, "accepted: a tuple of whole numbers of at least 0"); };
    Shape out;
    if (value.kind != Kind::tuple) refuse();
    for (const PickleValue* item : value.items) {
      if (item->kind != Kind::whole || item->whole < 0) refuse();
      out.push_back(item->whole);
    }
    return out;
  }

  Tensor tensor(const PickleValue& value, const std::string& field) {
    const PickleValue* call = &value;
    for (std::size_t depth = 0; call->text == kParameter; ++depth) {
      call = arguments(*call, 1, field)[0];
      if (!is_tensor(*call) || depth > kDeepest) pickle_.refuse(field, "", "a parameter of what is no tensor");
    }
    const bool with_dtype = call->text == kTensorWithDType;
    if (call->text != kTensor && !with_dtype) pickle_.refuse(field, call->text, "makes no tensor");
    const auto given = arguments(*call, with_dtype ? 7 : 6, field);
    const auto dtype = with_dtype ? dtype_of(*given[6], field) : std::nullopt;
    const Storage& storage = storage_of(*given[0], field);
    if (dtype.has_value() == storage.dtype.has_value()) pickle_.refuse(field, "", "its dtype is given twice, or never");
    const PickleValue& offset = *given[1];
    if (offset.kind != Kind::whole || offset.whole < 0)
      pickle_.refuse(field, "storage offset", "accepted: a whole number of at least 0");
    return placed(storage, dtype ? *dtype : *storage.dtype, offset.whole, numbers(*given[2], field, "shape"),
                  numbers(*given[3], field, "strides"), field);
  }

  std::optional<DType> dtype_of(const PickleValue& value, const std::string& field) const {
    for (const TorchType& type : kTypes)
      if (value.kind == Kind::global && value.text == type.dtype) return type.type;
    pickle_.refuse(field, "", "its dtype is not one");
  }

  struct Storage {
    FileBytes bytes;
    std::optional<DType> dtype;  // nothing for an untyped one
  };

  // ("storage", type, key, location, number of elements)
  const Storage& storage_of(const PickleValue& value, const std::string& field) {
    const auto refuse = [&] { pickle_.refuse(field, "", "its storage is not one"); };
    if (value.kind != Kind::persistent) refuse();
    const auto& id = value.items.front()->items;
    if (value.items.front()->kind != Kind::tuple || id.size() < 5 || id[0]->kind != Kind::text ||
        id[0]->text != "storage" || id[1]->kind != Kind::global || id[2]->kind != Kind::text ||
        id[4]->kind != Kind::whole)
      refuse();
    std::optional<DType> dtype;
    for (const TorchType& type : kTypes)
      if (id[1]->text == type.storage) dtype = type.type;
    if (!dtype && id[1]->text != kUntyped) refuse();

    auto& storage = storages_[{id[2]->text, id[1]->text}];
    if (storage.bytes.start == nullptr) {
      storage = {source_(id[2]->text), dtype};
      copies_left_ += static_cast<std::int64_t>(storage.bytes.size);
      const std::uint64_t element = dtype ? bytes_of(*dtype) : 1;
      if (id[4]->whole < 0 || storage.bytes.size % element != 0 ||
          storage.bytes.size / element != static_cast<std::uint64_t>(id[4]->whole))
        storage.bytes.refuse(
            "", std::to_string(storage.bytes.size) + " bytes",
            "the pickle says " + std::to_string(id[4]->whole) + " elements of " + std::to_string(element) + " bytes");
    }
    return storage;
  }

  Tensor placed(const Storage& storage, DType dtype, std::int64_t offset, const Shape& shape, const Shape& strides,
                const std::string& field) {
    const auto bytes = checked_bytes(dtype, shape);
    if (!bytes) pickle_.refuse(field, "shape", "too large: its size in bytes has more than 63 bits");
    if (strides.size() != shape.size())
      pickle_.refuse(field, "strides", "accepted: as many as the shape has sizes, " + std::to_string(shape.size()));
    if (*bytes == 0) return {dtype, shape};
    const auto element = static_cast<std::int64_t>(bytes_of(dtype));
    const auto elements = static_cast<std::int64_t>(storage.bytes.size) / element;
    std::int64_t last = offset, step = 1;  // element that lies furthest; stride of a row-major tensor
    bool row_major = true;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      std::int64_t span = 0;
      if (__builtin_mul_overflow(shape[axis] - 1, strides[axis], &span) || __builtin_add_overflow(last, span, &last))
        pickle_.refuse(field, "strides", "too large");
      row_major = row_major && (shape[axis] == 1 || strides[axis] == step);
      step *= shape[axis];
    }
    if (last >= elements)
      pickle_.refuse(field, "element " + std::to_string(last),
                     "outside its storage, which has " + std::to_string(elements));
    if (row_major) return tensor_in(storage.bytes, static_cast<std::uint64_t>(offset * element), dtype, shape);
    if (*bytes > copies_left_)
      pickle_.refuse(field, std::to_string(*bytes) + " bytes",
                     "its strides repeat a storage of " + std::to_string(storage.bytes.size) +
                         "; accepted in all: 1 GiB more than the storages have");
    copies_left_ -= *bytes;
    return strided_copy(storage.bytes.start.get() + offset * element, dtype, shape, strides);
  }

  const FileBytes& pickle_;
  const StorageSource& source_;
  std::map<std::pair<std::string, std::string>, Storage> storages_;  // by key and type
  std::map<std::string, Tensor> tensors_;
  std::size_t places_ = 0;
  std::int64_t copies_left_ = kMostRepeated;
};

}  // namespace

bool is_torch_file(const ZipArchive& archive) { return prefix_of(archive).has_value(); }

void refuse_bare_pickle(const FileBytes& bytes) {
  bytes.refuse("", "",
               "a bare pickle, as PyTorch wrote before 1.6, is not read; convert it where you trust it: python -c "
               "\"import torch; torch.save(torch.load('old.pt', weights_only=True), 'new.pt')\"");
}

std::map<std::string, Tensor> read_torch_file(const ZipArchive& archive, const std::string& lone_name) {
  const auto prefix = prefix_of(archive);
  if (!prefix) archive.bytes().refuse("", "", "no PyTorch file: it has no member data.pkl");
  check_byte_order(archive, *prefix + "byteorder");
  return read_torch_pickle(
      archive.read(*prefix + std::string(kPickle)),
      [&](const std::string& key) { return archive.read(*prefix + "data/" + key); }, lone_name);
}

std::map<std::string, Tensor> read_torch_pickle(const FileBytes& pickle, const StorageSource& storage,
                                                const std::string& lone_name) {
  return TorchReader(pickle, storage).read(lone_name);
}

}  // namespace ropewalk
