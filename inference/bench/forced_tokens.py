"""`python -m inference.bench.forced_tokens --model PATH`: what drafts of forced tokens save.

A call of a tool and JSON of a schema, each answered with drafts of several lengths in turn, on one
core: steps, and the median of the times after the first token. Then what it costs to ask for
drafts where text is free, beside the mask of that step.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from statistics import median

import msgspec
import torch

from inference.bench.quality.tools import TOOLS
from inference.config import EngineConfig, SpeculationConfig
from inference.core import Request, SamplingParams
from inference.engine.engine_core import EngineCore
from inference.protocol import AddRequest
from inference.runner.model_runner import ModelRunner
from inference.server.schemas import ChatRequest
from inference.server.structured import ResponseFormat, to_grammar
from inference.server.tools import ToolUse
from inference.speculation.forced_tokens import ForcedTokens
from inference.text.chat_template import ChatTemplate
from inference.text.load import load_text
from inference.text.tokenizer import TextTokenizer

_LENGTHS = (0, 3, 7, 11)
_ROUNDS = 9
_ASKED = "What is the weather in Rome?"
_SAID = "It is a sunny morning in Paris, with a light wind from the west and few clouds. "
_SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 12},
        "size": {"enum": ["small", "large"]},
        "is_capital": {"type": "boolean"},
    },
    "required": ["city", "size", "is_capital"],
    "additionalProperties": False,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m inference.bench.forced_tokens", description=__doc__
    )
    parser.add_argument("--model", required=True, help="a GGUF file or a Hugging Face folder")
    path = parser.parse_args().model
    tokenizer, template = load_text(path)
    if template is None:
        raise SystemExit("the model has no chat template")
    config = EngineConfig(
        path, num_blocks=512, num_threads=1, prefix_cache=False, int8_activations="auto"
    )
    runner = ModelRunner(config)
    asked = [{"role": "user", "content": _ASKED}]
    prompt = tokenizer.encode("".join(template.render(asked, add_generation_prompt=True)))
    wanted = {"type": "json_schema", "json_schema": {"name": "a", "schema": _SCHEMA}}
    cases = {
        "a call": _tools(tokenizer, template, "required"),
        "JSON by a schema": to_grammar(msgspec.convert(wanted, ResponseFormat), None, None)[1],
    }
    write = sys.stdout.write
    write(f"{Path(path).name}\n\n| | drafted at once | steps | ms |\n|---|--:|--:|--:|\n")
    for name, grammar in cases.items():
        found = [
            [_answer(config, runner, prompt, grammar, n) for n in _LENGTHS] for _ in range(_ROUNDS)
        ]
        for length, runs in zip(_LENGTHS, zip(*found, strict=True), strict=True):
            seconds = median(each[1] for each in runs)
            write(f"| {name} | {length} | {runs[0][0]} | {seconds * 1e3:.0f} |\n")
    write("\n| requests with tools that say text | to ask, µs | masks, µs |\n|--:|--:|--:|\n")
    for count in (1, 32):
        ask, mask = _cost(runner, tokenizer, _tools(tokenizer, template, "auto"), count)
        write(f"| {count} | {ask * 1e6:.0f} | {mask * 1e6:.0f} |\n")


def _tools(tokenizer: TextTokenizer, template: ChatTemplate, choice: str) -> str:
    asked = {
        "messages": [{"role": "user", "content": _ASKED}],
        "tools": TOOLS,
        "tool_choice": choice,
        "parallel_tool_calls": False,
    }
    tools = ToolUse.of(msgspec.convert(asked, ChatRequest), template)
    assert tools is not None
    return tools.grammar(tokenizer)


def _answer(
    config: EngineConfig, runner: ModelRunner, prompt: list[int], grammar: str, length: int
) -> tuple[int, float]:
    """Steps of an answer, and the seconds after its first."""
    changed = msgspec.structs.replace(config, speculation=SpeculationConfig(max_tokens=length))
    core = EngineCore(changed, runner, [ForcedTokens(runner.guides.forced)])
    core.add(
        AddRequest("a", prompt, SamplingParams(max_tokens=80, temperature=0.0, grammar=grammar))
    )
    core.step()
    began = time.perf_counter()
    while core.scheduler.has_work:
        core.step()
    return core.stats().steps, time.perf_counter() - began


def _cost(
    runner: ModelRunner, tokenizer: TextTokenizer, grammar: str, count: int
) -> tuple[float, float]:
    """Median seconds of a step, to ask for the drafts of so many requests, and of their masks."""
    sampling = SamplingParams(max_tokens=1000, grammar=grammar)
    requests = [Request(str(number), [1], sampling) for number in range(count)]
    asking, masking = [], []
    for token in tokenizer.encode(_SAID * 2, add_special_tokens=False):
        began = time.perf_counter()
        runner.guides.forced([(request, 7) for request in requests])
        asked = time.perf_counter()
        runner.guides.prepare([(request, ()) for request in requests])
        runner.guides.restrict(torch.zeros(count, runner.vocab_size), range(count))
        asking.append(asked - began)
        masking.append(time.perf_counter() - asked)
        for request in requests:
            request.token_ids.append(token)
    return median(asking), median(masking)


if __name__ == "__main__":
    main()
