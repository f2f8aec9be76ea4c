"""Prometheus metrics, under the names operators know from vLLM where they exist."""

from __future__ import annotations

import time
from itertools import zip_longest
from typing import TypeVar

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.registry import Collector

from inference.core import FinishReason
from inference.protocol import CoreReady, CoreStats

M = TypeVar("M", bound=MetricWrapperBase)

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)
_TOKENS = (1, 8, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192)


disable_created_metrics()


class Metrics:
    """One registry for one served model.

    Attributes:
        step_s: how long a step takes of late, in seconds.
        busy_s, input_tokens, cached_tokens, output_tokens: since the server started, over all
            its cores.
    """

    def __init__(self, model_name: str, gpus: Collector | None = None) -> None:
        """`gpus`: asked whenever the metrics are."""
        self.registry = CollectorRegistry()
        if gpus is not None:
            self.registry.register(gpus)
        self._model_name = model_name
        self._last = CoreStats()
        self._step_at = 0.0
        self.step_s = self.busy_s = 0.0
        self.input_tokens = self.cached_tokens = self.output_tokens = 0
        self._running = self._gauge("vllm:num_requests_running", "Sequences being computed")
        self._waiting = self._gauge("vllm:num_requests_waiting", "Sequences waiting to begin")
        self._usage = self._gauge("vllm:kv_cache_usage_perc", "Referenced KV blocks, 0 to 1")
        self._blocks_total = self._gauge("parley:kv_blocks", "KV blocks")
        self._blocks_used = self._gauge("parley:kv_blocks_used", "KV blocks referenced")
        self._kv_bytes = self._gauge("parley:kv_cache_bytes", "Memory of all KV blocks, one rank")
        self._cache_config = Gauge(
            "vllm:cache_config_info",
            "How the KV cache is kept, in its labels",
            ("model_name", "cache_dtype", "block_size", "num_gpu_blocks"),
            registry=self.registry,
        )
        self._load_s = Gauge(
            "parley:load_seconds",
            "Seconds of each stage until the core was ready",
            ("model_name", "stage"),
            registry=self.registry,
        )
        self._waste = self._gauge("parley:kv_waste_ratio", "Slots held but not filled, 0 to 1")
        self._computed = self._counter("parley:tokens_computed", "Tokens computed, any kind")
        self._steps = self._counter("parley:steps", "Engine steps")
        self._busy = self._counter("parley:busy_seconds", "Seconds spent in steps")
        self._failed_steps = self._counter("parley:failed_steps", "Engine steps that threw")
        self._mismatches = self._counter(
            "parley:kv_checksum_mismatches", "Cached blocks found changed, and dropped"
        )
        self._batch_limit = self._gauge(
            "parley:batch_token_limit", "Tokens a step may have; less after memory ran out"
        )
        self._preemptions = self._counter("vllm:num_preemptions", "Preemptions")
        self._swaps = self._counter("parley:swaps", "Preemptions by copying to host memory")
        self._queries = self._counter("vllm:prefix_cache_queries", "Tokens looked up")
        self._hits = self._counter("vllm:prefix_cache_hits", "Tokens found cached")
        self._drafts = self._counter("vllm:spec_decode_num_drafts", "Drafts verified")
        self._drafted = self._counter("vllm:spec_decode_num_draft_tokens", "Draft tokens verified")
        self._accepted = self._counter(
            "vllm:spec_decode_num_accepted_tokens", "Draft tokens that were right"
        )
        self._accepted_at = Counter(
            "vllm:spec_decode_num_accepted_tokens_per_pos",
            "Draft tokens that were right, by their place in the draft",
            ("model_name", "position"),
            registry=self.registry,
        )
        self._prompt = self._counter("vllm:prompt_tokens", "Prompt tokens")
        self._generated = self._counter("vllm:generation_tokens", "Generated tokens")
        self._step_tokens = self._histogram(
            "vllm:iteration_tokens_total", "Tokens of a step", _TOKENS
        )
        self._ttft = self._histogram("vllm:time_to_first_token_seconds", "TTFT", _SECONDS)
        self._itl = self._histogram(
            "vllm:inter_token_latency_seconds", "Time between tokens", _SECONDS
        )
        self._e2e = self._histogram("vllm:e2e_request_latency_seconds", "Whole request", _SECONDS)
        self._success = Counter(
            "vllm:request_success",
            "Finished sequences",
            ("model_name", "finished_reason"),
            registry=self.registry,
        )

    def on_ready(self, info: CoreReady) -> None:
        """Take over what is settled when the model is loaded."""
        self._kv_bytes.set(info.kv_bytes)
        labels = (self._model_name, info.kv_dtype, str(info.block_size), str(info.num_blocks))
        self._cache_config.labels(*labels).set(1)
        for stage, seconds in info.load_s.items():
            self._load_s.labels(self._model_name, stage).set(seconds)

    @property
    def last(self) -> CoreStats:
        """The core's counters after its last step."""
        return self._last

    def on_step(self, stats: CoreStats) -> None:
        """Take the core's counters over after a step."""
        last, self._last = self._last, stats
        self._time_step(stats, last)
        if stats.steps < last.steps:
            last = CoreStats()  # a new core counts from zero
        self._running.set(stats.running)
        self._waiting.set(stats.waiting)
        self._blocks_total.set(stats.blocks_total)
        self._blocks_used.set(stats.blocks_used)
        self._usage.set(stats.blocks_used / max(stats.blocks_total, 1))
        self._waste.set(stats.kv_waste)
        self._batch_limit.set(stats.batch_limit)
        self._failed_steps.inc(max(0, stats.failed_steps - last.failed_steps))
        self._mismatches.inc(max(0, stats.checksum_mismatches - last.checksum_mismatches))
        self._computed.inc(max(0, stats.tokens_computed - last.tokens_computed))
        self._preemptions.inc(max(0, stats.preemptions - last.preemptions))
        self._swaps.inc(max(0, stats.swaps - last.swaps))
        self._queries.inc(max(0, stats.prefix_tokens_asked - last.prefix_tokens_asked))
        hits = max(0, stats.prefix_tokens_hit - last.prefix_tokens_hit)
        self._hits.inc(hits)
        self.cached_tokens += hits
        busy_s = max(0.0, stats.busy_s - last.busy_s)
        self._busy.inc(busy_s)
        self.busy_s += busy_s
        self._drafts.inc(max(0, stats.num_drafts - last.num_drafts))
        self._drafted.inc(max(0, stats.draft_tokens - last.draft_tokens))
        # A core that is gone, or has not begun, reports no positions at all.
        accepted = zip_longest(stats.accepted_per_position, last.accepted_per_position, fillvalue=0)
        for position, (now, then) in enumerate(accepted):
            if now > then:
                self._accepted.inc(now - then)
                self._accepted_at.labels(self._model_name, str(position)).inc(now - then)
        if stats.steps > last.steps:
            self._steps.inc(stats.steps - last.steps)
            self._step_tokens.observe(stats.step_tokens)

    def _time_step(self, stats: CoreStats, last: CoreStats) -> None:
        """`step_s`: a moving mean of the time between reports while something runs."""
        now = time.monotonic()
        if stats.steps > last.steps and last.running:
            took = (now - self._step_at) / (stats.steps - last.steps)
            self.step_s = 0.9 * self.step_s + 0.1 * took if self.step_s else took
        self._step_at = now

    def start(self, prompt_tokens: int) -> SequenceTimer:
        self._prompt.inc(prompt_tokens)
        self.input_tokens += prompt_tokens
        return SequenceTimer(self)

    def render(self) -> bytes:
        return generate_latest(self.registry)

    def _gauge(self, name: str, text: str) -> Gauge:
        return self._labelled(Gauge(name, text, ("model_name",), registry=self.registry))

    def _counter(self, name: str, text: str) -> Counter:
        return self._labelled(Counter(name, text, ("model_name",), registry=self.registry))

    def _histogram(self, name: str, text: str, buckets: tuple[float, ...]) -> Histogram:
        histogram = Histogram(name, text, ("model_name",), registry=self.registry, buckets=buckets)
        return self._labelled(histogram)

    def _labelled(self, metric: M) -> M:
        return metric.labels(self._model_name)


class SequenceTimer:
    """Times of one sequence, observed as its tokens arrive."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._began = self._last = time.monotonic()
        self._first = True

    def tokens(self, count: int) -> None:
        if count == 0:
            return  # it ended without a further token
        now = time.monotonic()
        if self._first:
            self._metrics._ttft.observe(now - self._began)
            self._first = False
        else:
            for _ in range(count):
                self._metrics._itl.observe((now - self._last) / count)
        self._last = now
        self._metrics._generated.inc(count)
        self._metrics.output_tokens += count

    def finished(self, reason: FinishReason) -> None:
        self._metrics._e2e.observe(time.monotonic() - self._began)
        self._metrics._success.labels(self._metrics._model_name, reason.value).inc()
