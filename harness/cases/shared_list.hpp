// A list that its copies share and nobody changes: the cells of a grid have millions of positions in common.
#pragma once

#include <initializer_list>
#include <memory>
#include <vector>

namespace ropewalk {

template <class T>
class SharedList {
 public:
  using value_type = T;
  using const_iterator = typename std::vector<T>::const_iterator;
  using iterator = const_iterator;

  SharedList() : SharedList(std::vector<T>{}) {}
  SharedList(std::vector<T> items) : items_(std::make_shared<const std::vector<T>>(std::move(items))) {}
  SharedList(std::initializer_list<T> items) : SharedList(std::vector<T>(items)) {}

  operator const std::vector<T>&() const { return *items_; }
  const_iterator begin() const { return items_->begin(); }
  const_iterator end() const { return items_->end(); }
  std::size_t size() const { return items_->size(); }
  bool empty() const { return items_->empty(); }
  const T& front() const { return items_->front(); }
  const T& back() const { return items_->back(); }
  const T& operator[](std::size_t i) const { return (*items_)[i]; }
  friend bool operator==(const SharedList& a, const SharedList& b) { return *a.items_ == *b.items_; }

 private:
  std::shared_ptr<const std::vector<T>> items_;
};

}  // namespace ropewalk
