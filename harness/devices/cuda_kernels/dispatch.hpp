// From run-time choices to bodies: run(body, count) is called with the body that they name. Shared by host and GPU.
#pragma once

#include "harness/devices/cuda_kernels/run.hpp"

namespace ropewalk::kernels {

template <class Run>
void with_table(TableWay way, const TableArguments& a, Run run) {
  const std::int64_t count = a.rows * a.pairs;
  switch (way) {
    case TableWay::radians:
      return run(Table<TableWay::radians>{a}, count);
    case TableWay::turns:
      return run(Table<TableWay::turns>{a}, count);
    case TableWay::turns_fused:
      return run(Table<TableWay::turns_fused>{a}, count);
    case TableWay::phase:
      return run(Table<TableWay::phase>{a}, count);
    case TableWay::phase_fused:
      return run(Table<TableWay::phase_fused>{a}, count);
    case TableWay::fast:
      return run(Table<TableWay::fast>{a}, count);
    case TableWay::fast_reduced:
      return run(Table<TableWay::fast_reduced>{a}, count);
  }
}

// f.template operator()<T>() with the element's type.
template <class F>
void with_element(Element element, F f) {
  switch (element) {
    case Element::float32:
      return f.template operator()<float>();
    case Element::bfloat16:
      return f.template operator()<Bfloat16>();
    case Element::float16:
      return f.template operator()<Float16>();
  }
}

template <class T, Pairing pairing, class Run>
void with_rotation(const RotationPlan& plan, const RotationArguments& a, Run run) {
  const bool fma = plan.contraction == Contraction::fma;
  if (plan.source == AngleSource::table)
    return fma ? run(Rotate<T, pairing, Contraction::fma, AngleSource::table>{a}, a.count())
               : run(Rotate<T, pairing, Contraction::none, AngleSource::table>{a}, a.count());
  return fma ? run(Rotate<T, pairing, Contraction::fma, AngleSource::in_place>{a}, a.count())
             : run(Rotate<T, pairing, Contraction::none, AngleSource::in_place>{a}, a.count());
}

// `scratch`: room for a.x once more, `copies` times where the plan is late.
template <class Run>
void with_heads(const RotationPlan& plan, Element element, RotationArguments a, std::int64_t copies, void* scratch,
                Run run) {
  with_element(element, [&]<class T>() {
    const auto rotate = [&] {
      plan.pairing == Pairing::half_split ? with_rotation<T, Pairing::half_split>(plan, a, run)
                                          : with_rotation<T, Pairing::interleaved>(plan, a, run);
    };
    if (copies == 1) return rotate();
    ExpandArguments e{a.x, a.out, a.batch * a.seq, a.heads, copies, a.head_dim};
    if (plan.late) {
      e.out = scratch;
      run(Expand<T>{e}, e.count());
      a.x = scratch;
      a.heads *= copies;
      rotate();
    } else {
      a.out = scratch;
      rotate();
      e.x = scratch;
      run(Expand<T>{e}, e.count());
    }
  });
}

template <class Run>
void with_padding(PadMethod method, Element element, const PadArguments& a, Run run) {
  with_element(element, [&]<class T>() {
    if (method == PadMethod::slices)
      run(PadBySlices<T>{a}, PadBySlices<T>{a}.count());
    else
      run(PadByIndex<T>{a}, PadByIndex<T>{a}.count());
  });
}

inline std::int64_t bytes_of(Element element) { return element == Element::float32 ? 4 : 2; }

}  // namespace ropewalk::kernels
