"""vLLM and SGLang are registered by what their `/metrics` say, in the formats that they have."""

import httpx
import pytest

from backend.generation.management.commands.announce_engine import observed
from backend.generation.pools.foreign import Samples, Totaller, read_sglang, read_vllm
from backend.generation.pools.registry import Capacity, EngineRecord, Load, Totals
from tests.generation.admission_queue import Clock

VLLM = """
# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="meta-llama/Llama-3.1-8B-Instruct"} 3.0
vllm:num_requests_running{engine="1",model_name="meta-llama/Llama-3.1-8B-Instruct"} 4.0
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{engine="0",model_name="meta-llama/Llama-3.1-8B-Instruct"} 2.0
# TYPE vllm:kv_cache_usage_perc gauge
vllm:kv_cache_usage_perc{engine="0",model_name="meta-llama/Llama-3.1-8B-Instruct"} 0.25
# TYPE vllm:prefix_cache_queries_total counter
vllm:prefix_cache_queries_total{engine="0",model_name="m"} 1000.0
# TYPE vllm:prefix_cache_hits_total counter
vllm:prefix_cache_hits_total{engine="0",model_name="m"} 900.0
# TYPE vllm:cache_config_info gauge
vllm:cache_config_info{block_size="16",cache_dtype="auto",engine="0",num_gpu_blocks="8000"} 1.0
# TYPE vllm:inter_token_latency_seconds histogram
vllm:inter_token_latency_seconds_bucket{engine="0",le="+Inf",model_name="m"} 10.0
vllm:inter_token_latency_seconds_count{engine="0",model_name="m"} 10.0
vllm:inter_token_latency_seconds_sum{engine="0",model_name="m"} 0.2
"""
SGLANG = """
# TYPE sglang:num_running_reqs gauge
sglang:num_running_reqs{model_name="qwen"} 5.0
# TYPE sglang:num_queue_reqs gauge
sglang:num_queue_reqs{model_name="qwen"} 1.0
# TYPE sglang:num_used_tokens gauge
sglang:num_used_tokens{model_name="qwen"} 123859.0
# TYPE sglang:max_total_num_tokens gauge
sglang:max_total_num_tokens{model_name="qwen"} 400000.0
# TYPE sglang:prompt_tokens_total counter
sglang:prompt_tokens_total{model_name="qwen"} 8128902.0
# TYPE sglang:cached_tokens_total counter
sglang:cached_tokens_total{model_name="qwen"} 700000.0
"""
RECORD = EngineRecord(id="v", name="gpu-1", model="llama", url="http://gpu-1:8000", state="down")


def test_vllm_tells_load_blocks_and_cache() -> None:
    capacity, load = read_vllm(Samples(VLLM))
    assert capacity == Capacity(blocks=8000, block_size=16)
    assert (load.running, load.waiting, load.free_blocks, load.step_ms) == (7, 2, 6000, 20.0)
    assert (load.prefix.tokens_asked, load.prefix.tokens_hit) == (1000, 900)


def test_older_vllm_names_its_cache_otherwise() -> None:
    _, load = read_vllm(Samples(VLLM.replace("kv_cache_usage", "gpu_cache_usage")))
    assert load.free_blocks == 6000


def test_sglang_tells_load_and_tokens() -> None:
    capacity, load = read_sglang(Samples(SGLANG))
    assert capacity == Capacity(blocks=400_000, block_size=1)
    assert (load.running, load.waiting, load.free_blocks) == (5, 1, 276_141)
    assert load.prefix.tokens_hit == 700_000


@pytest.mark.parametrize(
    ("kind", "answer", "state"),
    [
        ("vllm", httpx.Response(200, text=VLLM), "ready"),
        ("sglang", httpx.Response(200, text=SGLANG), "ready"),
        ("openai", httpx.Response(200, json={"data": []}), "ready"),
        ("vllm", httpx.Response(503), "down"),
        ("vllm", httpx.Response(200, text="vllm:num_requests_running{ 1"), "down"),
    ],
)
async def test_engine_is_down_when_it_does_not_tell(
    kind: str, answer: httpx.Response, state: str
) -> None:
    def respond(request: httpx.Request) -> httpx.Response:
        assert request.url.path == ("/v1/models" if kind == "openai" else "/metrics")
        return answer

    async with httpx.AsyncClient(
        base_url=RECORD.url, transport=httpx.MockTransport(respond)
    ) as client:
        found = await observed(client, RECORD, kind, Totaller(), sequences=32)
    assert found.state == state
    if state == "ready":
        assert found.capacity.sequences == 32


def test_totals_go_on_over_a_restart_of_the_engine() -> None:
    clock = Clock()
    totaller = Totaller(clock)
    for prompt, made, running in ((1000, 500, 1), (1300, 540, 1), (20, 5, 0), (30, 9, 2)):
        text = f"vllm:prompt_tokens_total {prompt}\nvllm:generation_tokens_total {made}\n"
        clock.now += 1.0
        totaller.read(Samples(text), Load(running=running))
    clock.now += 5.0
    totaller.missed()
    # What it had counted before it was first read is not ours; at work only between two readings
    # that both found it running.
    assert totaller.totals() == Totals(
        up_s=9.0, busy_s=1.0, input_tokens=330, cached_tokens=0, output_tokens=49
    )
