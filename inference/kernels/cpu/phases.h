// Work in phases, each of which needs all of the one before, on threads that may lose their
// processor at any moment. Threads draw units of a phase; a phase is over when its units are
// done, not when all threads have come by, so a thread that is not running holds up the others
// only by the unit that it has in hand. (A barrier of OpenMP between phases made a step ten times
// slower on a machine that does something else too.)

#pragma once

#include <atomic>
#include <ctime>
#include <vector>

#include <sched.h>

namespace {

struct Share {
  int begin, end;
};

// Part `index` of `parts` about equal ones of `total` things.
inline Share share_of(int total, int index, int parts) {
  return {(int)((int64_t)total * index / parts), (int)((int64_t)total * (index + 1) / parts)};
}

struct alignas(64) Phase {
  std::atomic<int> drawn{0};
  alignas(64) std::atomic<int> done{0};
};

// One thread's way through the phases.
class Phases {
 public:
  explicit Phases(std::vector<Phase>& all) : next_(all.data()) {}

  // Compute units of the next phase, `action(unit)` each, after `prepare()` where this thread
  // gets one; return when all units of all threads are done.
  template <class Prepare, class Action>
  void run(int units, Prepare prepare, Action action) {
    wait(begin(units, prepare, action), units);
  }

  // The same, but return when none is left to draw: others may still be at theirs.
  template <class Prepare, class Action>
  const Phase& begin(int units, Prepare prepare, Action action) {
    Phase& phase = *next_++;
    bool prepared = false;
    for (int unit; (unit = phase.drawn.fetch_add(1, std::memory_order_relaxed)) < units;) {
      if (!prepared) prepare();
      prepared = true;
      action(unit);
      phase.done.fetch_add(1, std::memory_order_release);
    }
    return phase;
  }

  // As `begin`, in phases of a share for each of `threads`: this one, `thread` of them, draws its own units
  // first, whose numbers it may have near, and then what others have left. Returns the first of the phases.
  template <class Prepare, class Action>
  const Phase* begin_shares(int units, int thread, int threads, Prepare prepare, Action action) {
    Phase* const first = next_;
    for (int i = 0; i < threads; i++) {
      const int from = (thread + i) % threads;
      const Share own = share_of(units, from, threads);
      next_ = first + from;
      begin(own.end - own.begin, prepare, [&](int unit) { action(own.begin + unit); });
    }
    next_ = first + threads;
    return first;
  }
  static void wait_for_shares(const Phase* first, int units, int threads) {
    for (int i = 0; i < threads; i++) {
      const Share own = share_of(units, i, threads);
      wait(first[i], own.end - own.begin);
    }
  }

  static void wait(const Phase& phase, int units) {
    constexpr int kSpins = 1000, kYields = 20;  // some 20 us, and then let others run
    for (int i = 0; phase.done.load(std::memory_order_acquire) < units; i++) {
      if (i < kSpins) {
#ifdef __x86_64__
        __builtin_ia32_pause();
#endif
      } else if (i < kSpins + kYields) {
        sched_yield();
      } else {  // an idle processor takes over a thread that waits for another
        timespec moment{0, 50'000};
        nanosleep(&moment, nullptr);
      }
    }
  }

 private:
  Phase* next_;
};

}  // namespace
