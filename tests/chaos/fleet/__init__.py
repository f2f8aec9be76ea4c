"""Four real engines that register themselves, two web processes, a network that fails.

    engines.py    the engines, each behind a proxy that is its network
    test_fleet.py what happens to a fleet in a week, in some minutes, under load

`make chaos-fleet` runs it: it takes minutes, and gigabytes of memory.
"""
