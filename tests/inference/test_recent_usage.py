"""The engine remembers final counts for a while, and not for ever."""

from inference.server.recent import RecentUsage


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_requests_of_one_key_are_kept_in_order() -> None:
    recent = RecentUsage()
    for number in range(3):
        recent.add("a", {"n": number})
    assert recent.find("a") == [{"n": 0}, {"n": 1}, {"n": 2}]
    assert recent.find("b") is None


def test_key_is_forgotten_some_time_after_its_last_request() -> None:
    clock = Clock()
    recent = RecentUsage(ttl_s=60, clock=clock)
    recent.add("a", {"n": 0})
    clock.now = 50
    recent.add("a", {"n": 1})
    clock.now = 109
    assert recent.find("a") == [{"n": 0}, {"n": 1}]
    clock.now = 111
    assert recent.find("a") is None


def test_number_of_keys_is_bounded() -> None:
    recent = RecentUsage(max_keys=10)
    for number in range(100):
        recent.add(str(number), {})
        recent.add("kept alive", {})
    assert recent.find("kept alive") is not None
    known = [number for number in range(100) if recent.find(str(number)) is not None]
    assert known == list(range(91, 100))


def test_requests_of_one_key_are_bounded():
    recent = RecentUsage(max_requests_per_key=3)
    for number in range(10):
        recent.add("a", {"n": number})
    assert recent.find("a") == [{"n": 7}, {"n": 8}, {"n": 9}]


def test_requests_of_all_keys_are_bounded():
    """The keys that were quiet longest are forgotten, whole."""
    recent = RecentUsage(max_requests=10, max_requests_per_key=4)
    for key in "abcd":
        for number in range(4):
            recent.add(key, {"n": number})
    assert [recent.find(key) for key in "ab"] == [None, None]
    assert [len(recent.find(key) or []) for key in "cd"] == [4, 4]
