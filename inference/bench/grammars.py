"""`python -m inference.bench.grammars --model PATH`: what holding answers to grammars costs.

Decode steps of 32 streams at a context of 512, with a grammar and without, take turns in one
process on the same weights: `tools` with free text, a call of a tool, and JSON of a schema. The
median of the ratios of processor time (all threads'), so that a busy machine changes nothing.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import msgspec
import torch

from inference.bench.perplexity import decode_batch
from inference.bench.quality.tools import TOOLS
from inference.core import Request, SamplingParams
from inference.model.build import build_decoder
from inference.model.files.open import open_weights
from inference.model.kv_memory import allocate_caches
from inference.quantization.precision import Precision
from inference.sampling.guide import Guides
from inference.sampling.sampler import LogitsRow, Sampler
from inference.server.schemas import ChatRequest
from inference.server.structured import ResponseFormat, to_grammar
from inference.server.tools import ToolUse
from inference.text.load import load_text

_STREAMS = 32
_SLOTS = _STREAMS * 528
_STEPS = 60
_SCHEMA = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "tags": {"type": "array", "items": {"enum": ["weather", "travel", "food"]}},
        "text": {"type": "string"},
    },
    "required": ["title", "tags", "text"],
}
_SAID = "It is a sunny morning in Paris, with a light wind from the west and few clouds. "
_CALL = '<tool_call>\n{"name": "send_email", "arguments": {"to": "a@b.c", "body": "'
_JSON = '{"title":"Paris","tags":["weather","travel"],"text":"'


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m inference.bench.grammars", description=__doc__)
    parser.add_argument("--model", required=True, help="a GGUF file or a Hugging Face folder")
    args = parser.parse_args()
    tokenizer, template = load_text(args.model)
    if template is None:
        raise SystemExit("the model has no chat template")
    reader = open_weights(args.model)
    config = reader.config
    cpu = torch.device("cpu")
    model = build_decoder(reader, torch.float32, cpu, Precision(int8_activations=True))
    caches = allocate_caches(_SLOTS, config, config.num_layers, torch.float16, cpu)
    guides = Guides(lambda: tokenizer, reader.config.eos_token_ids, config.vocab_size)
    sampler, batch = Sampler(reader.config.eos_token_ids, guides), decode_batch(_STREAMS)

    def cost(grammar: str, text: str) -> Callable[[], float]:
        """Processor seconds of each next step of streams that all say `text`."""
        said = tokenizer.encode(text, add_special_tokens=False)
        sampling = SamplingParams(max_tokens=10**6, temperature=0.0, grammar=grammar)
        streams = [Request(str(number), [1], sampling) for number in range(_STREAMS)]

        def step() -> float:
            rows = [LogitsRow(request) for request in streams]
            began = time.process_time()
            sampler.prepare(rows)
            sampler(model(batch, caches), rows)
            seconds = time.process_time() - began
            for request in streams:
                request.token_ids.append(said[request.num_output_tokens])
            return seconds

        step()  # grammars are compiled once
        return step

    chat = {"messages": [{"role": "user", "content": "Hi"}], "tools": TOOLS}
    tools = ToolUse.of(msgspec.convert(chat, ChatRequest), template)
    assert tools is not None
    free = tools.grammar(tokenizer)
    wanted = {"type": "json_schema", "json_schema": {"name": "a", "schema": _SCHEMA}}
    schema = to_grammar(msgspec.convert(wanted, ResponseFormat), None, None)[1]
    cases = {
        "tools given, text said": (free, _SAID * 4),
        "a tool called": (free, _CALL + _SAID * 4),
        "JSON by a schema": (schema, _JSON + _SAID * 4),
    }
    write = sys.stdout.write
    write(f"{Path(args.model).name}, {_STREAMS} streams\n\n| | processor time |\n|---|---|\n")
    with torch.inference_mode():
        for name, (grammar, text) in cases.items():
            held, plain = cost(grammar, text), cost("", text)
            ratios = [held() / plain() for _ in range(_STEPS)]
            write(f"| {name} | {median(ratios) - 1:+.1%} |\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
