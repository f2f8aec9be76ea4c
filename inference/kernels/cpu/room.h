// Memory for the length of a call, kept by its thread for the next one. Given back to the system, its pages
// would come back one fault at a time: 3 % of a prompt's time.

#pragma once

#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace {

constexpr size_t kLargePage = 2 << 20, kMostKept = 32 << 20;  // bytes; of what is larger, none is kept
constexpr size_t kRoomsKept = 4;  // by a thread: as many as a call has at once

struct Pages {
  void* at = nullptr;
  size_t bytes = 0;
};

// What a thread has kept.
struct KeptPages {
  std::vector<Pages> all;
  ~KeptPages() {
    for (const Pages& one : all) std::free(one.at);
  }
};
inline KeptPages& kept_pages() {
  static thread_local KeptPages kept;
  return kept;
}

inline Pages take_pages(size_t bytes) {
  auto& kept = kept_pages().all;
  size_t best = kept.size();
  for (size_t i = 0; i < kept.size(); i++)
    if (kept[i].bytes >= bytes && (best == kept.size() || kept[i].bytes < kept[best].bytes)) best = i;
  if (best < kept.size()) {
    std::swap(kept[best], kept.back());
    const Pages found = kept.back();
    kept.pop_back();
    return found;
  }
  const size_t page = bytes < kLargePage ? 64 : kLargePage, whole = (bytes + page - 1) / page * page;
  const Pages pages{std::aligned_alloc(page, whole), whole};
  if (!pages.at) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  if (page == kLargePage) madvise(pages.at, whole, MADV_HUGEPAGE);
#endif
  return pages;
}

// The largest are kept: they serve smaller calls too.
inline void give_pages(Pages pages) {
  auto& kept = kept_pages().all;
  if (pages.bytes > kMostKept) return std::free(pages.at);
  kept.push_back(pages);
  if (kept.size() <= kRoomsKept) return;
  size_t least = 0;
  for (size_t i = 1; i < kept.size(); i++)
    if (kept[i].bytes < kept[least].bytes) least = i;
  std::free(kept[least].at);
  kept.erase(kept.begin() + (long)least);
}

// `count` things that hold anything until they are written.
template <class T>
class Room {
 public:
  explicit Room(size_t count) { if (count) pages_ = take_pages(count * sizeof(T)); }
  ~Room() { if (pages_.at) give_pages(pages_); }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  T* get() const { return (T*)pages_.at; }
  T& operator[](size_t i) const { return get()[i]; }

 private:
  Pages pages_;
};

}  // namespace
