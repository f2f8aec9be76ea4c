"""Engines that are not ours, by what they tell at `/metrics`: vLLM, SGLang, hosted endpoints.

`manage.py announce_engine` runs beside such an engine and writes its record every second, as ours
writes its own (registry.py).

Sources: vLLM 0.11, docs "Production Metrics" (`vllm:gpu_cache_usage_perc` until 0.10); SGLang 0.5,
docs "Production Metrics".
"""

import time
from collections.abc import Callable, Mapping
from typing import Literal

from prometheus_client.parser import text_string_to_metric_families

from backend.generation.pools.registry import Capacity, Load, PrefixSummary, Totals

Kind = Literal["vllm", "sglang", "openai"]


class Samples:
    """The figures of one reading; those of several engines behind one address are added up."""

    def __init__(self, text: str) -> None:
        self._sums: dict[str, float] = {}
        self._labels: dict[str, Mapping[str, str]] = {}
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                self._sums[sample.name] = self._sums.get(sample.name, 0.0) + sample.value
                self._labels[sample.name] = sample.labels

    def whole(self, *names: str) -> int:
        """The first of `names` that is there; 0 where none is."""
        return max(0, int(self.figure(*names)))

    def figure(self, *names: str) -> float:
        return next((self._sums[name] for name in names if name in self._sums), 0.0)

    def label(self, name: str, label: str) -> int:
        """A label that is a number; 0 where it is not there."""
        value = self._labels.get(name, {}).get(label, "")
        return int(value) if value.isdecimal() else 0


def read_vllm(samples: Samples) -> tuple[Capacity, Load]:
    blocks = samples.label("vllm:cache_config_info", "num_gpu_blocks")
    used = samples.figure("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc")
    capacity = Capacity(
        blocks=blocks, block_size=samples.label("vllm:cache_config_info", "block_size")
    )
    load = Load(
        running=samples.whole("vllm:num_requests_running"),
        waiting=samples.whole("vllm:num_requests_waiting"),
        free_blocks=round(blocks * (1 - min(1.0, used))),
        step_ms=_mean_ms(samples, "vllm:inter_token_latency_seconds")
        or _mean_ms(samples, "vllm:time_per_output_token_seconds"),
        prefix=PrefixSummary(
            tokens_asked=samples.whole("vllm:prefix_cache_queries_total"),
            tokens_hit=samples.whole("vllm:prefix_cache_hits_total"),
        ),
    )
    return capacity, load


def read_sglang(samples: Samples) -> tuple[Capacity, Load]:
    """A block of SGLang is one token, unless it was started with pages."""
    tokens = samples.whole("sglang:max_total_num_tokens")
    asked = samples.whole("sglang:prompt_tokens_total")
    load = Load(
        running=samples.whole("sglang:num_running_reqs"),
        waiting=samples.whole("sglang:num_queue_reqs"),
        free_blocks=tokens - samples.whole("sglang:num_used_tokens"),
        step_ms=_mean_ms(samples, "sglang:inter_token_latency_seconds"),
        prefix=PrefixSummary(
            tokens_asked=asked, tokens_hit=samples.whole("sglang:cached_tokens_total")
        ),
    )
    return Capacity(blocks=tokens, block_size=1), load


def read_nothing(_: Samples) -> tuple[Capacity, Load]:
    """A hosted endpoint tells nothing of its load."""
    return Capacity(), Load()


_INPUT = ("vllm:prompt_tokens_total", "sglang:prompt_tokens_total")
_CACHED = ("vllm:prefix_cache_hits_total", "sglang:cached_tokens_total")
_OUTPUT = ("vllm:generation_tokens_total", "sglang:generation_tokens_total")


class Totaller:
    """Adds up what a foreign engine has done since the first reading; its own counters begin again
    with each of its starts."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._started_at = self._last_at = clock()
        self._was_running = False
        self._busy_s = 0.0
        self._counters: tuple[int, ...] | None = None
        self._sums = (0, 0, 0)

    def read(self, samples: Samples, load: Load) -> None:
        """One answer of its /metrics. It was at work since the last one where it was running then
        and is now."""
        now = self._clock()
        if self._was_running and load.running:
            self._busy_s += now - self._last_at
        self._last_at, self._was_running = now, load.running > 0
        counters = tuple(samples.whole(*names) for names in (_INPUT, _CACHED, _OUTPUT))
        if self._counters is not None:
            grown = (
                now - then if now >= then else now
                for now, then in zip(counters, self._counters, strict=True)
            )
            given, cached, made = (
                total + more for total, more in zip(self._sums, grown, strict=True)
            )
            self._sums = (given, cached, made)
        self._counters = counters

    def missed(self) -> None:
        """The engine did not answer."""
        self._last_at, self._was_running = self._clock(), False

    def totals(self) -> Totals:
        """Up is as long as it is announced, since it is paid for meanwhile."""
        given, cached, made = self._sums
        return Totals(self._last_at - self._started_at, self._busy_s, given, cached, made)


READERS: dict[Kind, Callable[[Samples], tuple[Capacity, Load]]] = {
    "vllm": read_vllm,
    "sglang": read_sglang,
    "openai": read_nothing,
}


def _mean_ms(samples: Samples, histogram: str) -> float:
    count = samples.figure(f"{histogram}_count")
    return round(1000 * samples.figure(f"{histogram}_sum") / count, 2) if count else 0.0
