// What adapters add to the products of a step's layers, and how their numbers come near: a batch reads
// eight adapters where it reads one base, each a place that no processor foresees, so they are asked
// for while the base's products are computed, a few lines at a time.

#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "low_rank.h"
#include "matrix.h"
#include "phases.h"

namespace {

// Memory that is asked for in shares, which the work goes on between: more at once than a core can wait
// for would hold it up.
class Ahead {
 public:
  void clear() { ranges_.clear(), total_ = given_ = 0, range_ = 0, at_ = 0; }
  // How often it was asked with this number, in turn.
  int turn(int number) {
    turns_ = number == number_ ? turns_ + 1 : 0;
    number_ = number;
    return turns_;
  }
  void add(const void* from, size_t bytes) {
    if (!bytes) return;
    ranges_.push_back({(const char*)from, bytes});
    total_ += bytes;
  }
  // Have it asked for up to `part` of `parts`.
  void reach(int part, int parts) {
    const size_t wanted = part >= parts ? total_ : total_ / parts * part;
    while (given_ < wanted) {
      const Range& range = ranges_[range_];
      __builtin_prefetch(range.from + at_, 0, 2);  // to the second cache: the nearest is the base's
      const size_t step = std::min<size_t>(64, range.bytes - at_);
      at_ += step, given_ += step;
      if (at_ == range.bytes) range_++, at_ = 0;
    }
  }

 private:
  struct Range {
    const char* from;
    size_t bytes;
  };
  std::vector<Range> ranges_;
  size_t total_ = 0, given_ = 0, range_ = 0, at_ = 0;
  int number_ = -1, turns_ = 0;
};

// Of the products of all layers: each row's input shrunk, which is a phase of its own, and added to the
// columns of a unit. The base's product does not wait for that phase, what is added does.
class Adapted {
 public:
  enum Which { kQkv, kOut, kGateUp, kDown, kProducts };
  static constexpr int kNone = -1;  // after qkv comes attention, which would push it out again

  // `widths` of what enters each of a layer's products.
  Adapted(const ParleyAdapters& adapters, int M, int layers, std::array<int, kProducts> widths)
      : adapters_(adapters), M_(M), products_(layers * kProducts), widths_(widths),
        shrunk_(adapters.count ? M : 0, Shrunk(adapters.max_ranks)) {}

  bool any() const { return adapters_.count > 0; }

  // By `index`, layer * kProducts + Which.
  void shrink(int index, int m, const float* x, const Rounded* rounded, int width) {
    if (const ParleyLowRank* low = find(index, m)) shrunk_[m].put(*low, adapters_.kind, x, rounded, width);
  }

  // Columns [from, to) of y = input @ weight^T, with what the rows' adapters add when `all_shrunk()`
  // returns. Meanwhile what `thread` of `threads` shrinks first for the product `next` is asked for, a share
  // with each of the `units` that it may expect.
  template <class AllShrunk>
  void multiply(int index, const ParleyMatrix& weight, const float* input, const RoundedRows& rounded,
                float* y, int from, int to, int stride, int next, int units, int thread, int threads,
                Ahead& ahead, AllShrunk all_shrunk) {
    if (!any()) {
      product(weight, input, rounded, y, M_, from, to, stride);
      return;
    }
    ahead.clear();
    for (int m = 0; m < M_; m++)
      if (const ParleyLowRank* low = find_first(index, m))
        each_up(*low, adapters_.kind, from, to, [&](const void* at, size_t bytes) { ahead.add(at, bytes); });
    add_down(next, share_of(M_, thread, threads), ahead.turn(next), (units + threads - 1) / threads, ahead);
    const int step = M_ <= kRowsInSlices ? kPanel : to - from;
    for (int n = from; n < to; n += step) {
      const int end = std::min(n + step, to);
      ahead.reach(end - from, to - from);
      product(weight, input, rounded, y, M_, n, end, stride);
    }
    all_shrunk();
    for (int m = 0; m < M_; m++)
      if (const ParleyLowRank* low = find(index, m))
        expand_row(*low, adapters_.kind, shrunk_[m], y + (size_t)m * stride, from, to);
  }

 private:
  static constexpr int kRowsInSlices = 16;  // with more, a product unpacks many columns at once

  const ParleyLowRank* find(int index, int m) const {
    if (adapters_.of[m] < 0) return nullptr;
    const ParleyLowRank& low = adapters_.tables[adapters_.of[m]][index];
    return low.ranks ? &low : nullptr;
  }
  // The same for the first of the rows that have an adapter: they lie next to one another.
  const ParleyLowRank* find_first(int index, int m, int begin = 0) const {
    return m > begin && adapters_.of[m] == adapters_.of[m - 1] ? nullptr : find(index, m);
  }

  // Share `unit` of `units` of what product `index` is shrunk with for these rows.
  void add_down(int index, Share of, int unit, int units, Ahead& ahead) const {
    if (index == kNone || index >= products_ || unit >= units) return;
    for (int m = of.begin; m < of.end; m++)
      if (const ParleyLowRank* low = find_first(index, m, of.begin)) {
        const Share rows = share_of(low->ranks, unit, units);
        const size_t bytes = bytes_of_row(adapters_.kind, widths_[index % kProducts]);
        ahead.add((const char*)low->down + rows.begin * bytes, (rows.end - rows.begin) * bytes);
        if (low->scales) ahead.add(low->scales + rows.begin, (rows.end - rows.begin) * sizeof(float));
      }
  }

  const ParleyAdapters& adapters_;
  int M_, products_;
  std::array<int, kProducts> widths_;
  std::vector<Shrunk> shrunk_;
};

}  // namespace
