"""Has an engine answer ordinary questions, greedy and without an end, and keeps the loops.

    python -m tests.inference.loops.collect http://127.0.0.1:8001

Writes real.jsonl beside this file: each answer whose end is one cycle over and over, found by
comparing and not by what is tested with it. The texts are a model's own: look at them.
"""

import json
import sys
from pathlib import Path

import httpx

TARGET = Path(__file__).with_name("real.jsonl")
MAX_TOKENS = 1500
PROMPTS = (
    "Write a poem about the sea.",
    "Write a long poem about autumn, with many stanzas.",
    "Write a Python function that checks whether a word is a palindrome, and explain it.",
    "Explain in simple words how a rainbow forms.",
    "Tell me everything you know about cats.",
    "List the countries of the world.",
    "What is the meaning of life?",
    "Write a story about a dragon who is afraid of fire.",
    "Describe the history of Rome in detail.",
    "What should I pack for a trip to the mountains?",
    "List 100 synonyms of good.",
    "Translate this into French: the house is big, the garden is small.",
    "Give me ideas for dinner.",
    "Compare tea and coffee in a table with three rows.",
    "Write an essay on the benefits of sport.",
    "Write a letter to my landlord about the heating.",
    "Explain how a computer works.",
    "Name the prime numbers below 1000.",
    "Write song lyrics about the road.",
    "What are the symptoms of a cold?",
    "How do I learn the piano?",
    "Write HTML for a page with a form.",
    "Tell me a joke, then another one, and go on.",
    "Summarize the plot of Hamlet.",
)


def main(url: str) -> int:
    found = []
    with httpx.Client(base_url=url, timeout=600) as client:
        for prompt in PROMPTS:
            for kind in ("chat", "text"):
                text, tokens = _answer(client, kind, prompt)
                period = period_at_end(tokens)
                if period is not None:
                    found.append({"kind": kind, "asked": prompt, "period": period, "answer": text})
                print(f"{'loop of ' + str(period) if period else 'no loop':12} {kind}: {prompt}")
    TARGET.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in found))
    print(f"{len(found)} loops in {TARGET}")
    return 0


def _answer(client: httpx.Client, kind: str, prompt: str) -> tuple[str, list[int]]:
    """The text, greedy, and its tokens as the engine's own tokenizer has them."""
    shared = {"temperature": 0, "max_tokens": MAX_TOKENS, "repetition_penalty": 1.0}
    if kind == "chat":
        messages = [{"role": "user", "content": prompt}]
        body = {**shared, "messages": messages, "stop_on_loop": False}
        answer = client.post("/v1/chat/completions", json=body).raise_for_status().json()
        text = answer["choices"][0]["message"]["content"]
    else:
        body = {**shared, "prompt": prompt}
        answer = client.post("/v1/completions", json=body).raise_for_status().json()
        text = answer["choices"][0]["text"]
    asked = {"prompt": text, "add_special_tokens": False}
    tokens = client.post("/tokenize", json=asked).raise_for_status().json()["tokens"]
    return text, tokens


def period_at_end(tokens: list[int]) -> int | None:
    """The smallest period that the last third of `tokens` has, of at least 250; else None."""
    tail = tokens[-max(250, len(tokens) // 3) :]
    if len(tail) < 250:
        return None
    for period in range(1, len(tail) // 4):
        if tail[period:] == tail[:-period]:
            return period
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
