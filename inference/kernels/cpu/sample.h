// A token for each row of logits: temperature, top-k, top-p, min-p and a given random number, which
// goes through the inverse of the cumulative distribution in the order of the token ids.
//
// Candidates are found in passes over the row, and everything else is done with these alone, in
// double: for top-k the k best; for top-p all that are likelier than (1 - p) / vocabulary, since
// the others together are less likely than 1 - p.

#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "room.h"
#include "vectors.h"

namespace {

struct Candidate {
  float logit;
  int id;
  double mass;  // exp((logit - largest) / temperature)
};
typedef std::vector<Candidate> Candidates;

struct Sampling {
  float temperature;
  double top_p, min_p, noise;
  int64_t top_k;
};

constexpr float kNoLogit = -std::numeric_limits<float>::infinity();
constexpr int kLooked = 4 * kLanes;  // logits that are looked at together

// Of equal logits the smallest id comes first.
inline bool ranks_before(const Candidate& a, const Candidate& b) {
  return a.logit > b.logit || (a.logit == b.logit && a.id < b.id);
}

inline float largest_of(const float* x, int count) {
  f32xN most = splat(kNoLogit);
  int i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const f32xN v = load<f32xN>(x + i);
    most = v > most ? v : most;
  }
  float largest = greatest(most);
  for (; i < count; i++) largest = std::max(largest, x[i]);
  return largest;
}

// Calls add(i) for each logit above `bound`, which it may raise.
template <class Add>
inline void for_each_above(const float* x, int count, const float& bound, Add add) {
  for (int begin = 0; begin < count; begin += kLooked) {
    const int end = std::min(begin + kLooked, count);
    if (end - begin == kLooked && largest_of(x + begin, kLooked) <= bound) continue;
    for (int i = begin; i < end; i++)
      if (x[i] > bound) add(i);
  }
}

// The k best of a row.
inline void find_best(const float* x, int count, size_t k, Candidates& found) {
  const size_t most = 2 * k + 256;
  float bound = kNoLogit;
  const auto drop_others = [&] {
    if (found.size() <= k) return;
    std::nth_element(found.begin(), found.begin() + (k - 1), found.end(), ranks_before);
    found.resize(k);
    bound = found.back().logit;
  };
  for_each_above(x, count, bound, [&](int i) {
    found.push_back({x[i], i, 0});
    if (found.size() == most) drop_others();
  });
  drop_others();
}

// masses (count) = exp((x - largest) / temperature), 0 where that is nothing; returns their sum.
inline double masses_of(const float* x, int count, float largest, float temperature, float* masses) {
  double total = 0;
  for (int begin = 0; begin < count; begin += kLooked) {
    const int end = std::min(begin + kLooked, count);
    f32xN part = {};
    int i = begin;
    for (; i + kLanes <= end; i += kLanes) {
      const f32xN below = (load<f32xN>(x + i) - splat(largest)) / splat(temperature);
      const f32xN mass = below < splat(-87.0f) ? splat(0.0f) : exponential(below);
      std::memcpy(masses + i, &mass, sizeof mass);
      part += mass;
    }
    total += sum(part);
    for (; i < end; i++) total += masses[i] = std::exp((x[i] - largest) / temperature);
  }
  return total;
}

// The token of a row without top-k and top-p.
inline int sample_any(const float* masses, int count, double total, const Sampling& wanted) {
  const float least = (float)wanted.min_p;
  if (least > 0) {
    total = 0;
    for (int i = 0; i < count; i++) total += masses[i] >= least ? masses[i] : 0;
  }
  const double goal = wanted.noise * total;
  double reached = 0;
  int last = 0;  // of the sums' rounding, where none passes
  for (int i = 0; i < count; i++) {
    if (masses[i] <= 0 || masses[i] < least) continue;
    reached += masses[i];
    last = i;
    if (reached > goal) break;
  }
  return last;
}

// Keeps the likeliest candidates whose mass reaches `goal`: of the two halves around a median the
// one is looked at further in which it is reached.
inline void keep_nucleus(Candidates& found, double goal) {
  auto begin = found.begin(), end = found.end();
  for (double before = 0; end - begin > 1;) {
    const auto middle = begin + (end - begin) / 2;
    std::nth_element(begin, middle, end, ranks_before);
    double reached = before;
    for (auto one = begin; one != middle; one++) reached += one->mass;
    if (reached >= goal) {
      end = middle;
    } else {
      before = reached;
      begin = middle;
    }
  }
  found.erase(begin + 1, found.end());
}

inline int sample_row(const float* x, int count, const Sampling& wanted) {
  const float largest = largest_of(x, count), temperature = wanted.temperature;
  const bool has_top_k = wanted.top_k < count, has_top_p = wanted.top_p < 1;
  Candidates found;
  double total = 0;
  if (has_top_k) {
    find_best(x, count, wanted.top_k, found);
  } else {
    Room<float> masses(count);
    total = masses_of(x, count, largest, temperature, masses.get());
    if (!has_top_p) return sample_any(masses.get(), count, total, wanted);
    const double least = std::log(total * (1 - wanted.top_p) / count) - 1e-3;
    const float cut = (float)(largest + temperature * least);
    for_each_above(x, count, std::nextafter(cut, kNoLogit), [&](int i) { found.push_back({x[i], i, 0}); });
  }
  for (Candidate& one : found) one.mass = std::exp((double)((one.logit - largest) / temperature));
  if (has_top_k)
    for (const Candidate& one : found) total += one.mass;
  if (has_top_p) keep_nucleus(found, wanted.top_p * total);
  std::sort(found.begin(), found.end(), [](const Candidate& a, const Candidate& b) { return a.id < b.id; });
  total = 0;
  for (Candidate& one : found) total += one.mass = one.mass >= wanted.min_p ? one.mass : 0;
  const double goal = wanted.noise * total;
  double reached = 0;
  int last = found.front().id;
  for (const Candidate& one : found) {
    if (one.mass <= 0) continue;
    reached += one.mass;
    last = one.id;
    if (reached > goal) break;
  }
  return last;
}

}  // namespace
