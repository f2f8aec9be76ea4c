"""What transformers in float32 answers with the default model, greedily.

Reading the model and answering takes transformers a minute of processor time. So its answers are
kept in `references/`, and at night it computes them again (test_reference.py). `python -m
tests.inference.reference_answers` writes them.
"""

from __future__ import annotations

import json
from pathlib import Path

import torch

from inference.text.load import load_text
from inference.text.tokenizer import TextTokenizer

KEPT = Path(__file__).parent / "references" / "smollm2-135m-instruct.json"
MODEL = Path("var/models/SmolLM2-135M-Instruct.Q4_1.gguf")
NEW_TOKENS = 12
SYSTEM = "You are a careful assistant. Answer in one short paragraph, and be kind to the reader. "
QUESTIONS = [
    "What is the capital of France?",
    "Why is the sky blue?",
    "Write a haiku about the sea.",
    "List three uses of iron.",
    "2 + 2 * 10 = ?",
    "Translate to French: good morning, my friends.",
    "Who wrote Hamlet, and when?",
    "Explain recursion to a child.",
    "Name the planets in order.",
    "def fibonacci(n):",
    "What does HTTP 404 mean?",
    "Is a tomato a fruit?",
    "Give me a recipe with eggs and rice.",
    "Summarise: the cat sat on the mat, and then the dog came in and the cat left.",
    "¿Dónde está la biblioteca?",
    "日本の首都はどこですか",
    "Emoji for happiness? 😀🎉",
    "Tell me a joke about penguins.",
    "What is the boiling point of water at sea level, in kelvin?",
    "Once upon a time, in a forest far away,",
    SYSTEM * 5 + "What is a prime number?",
    SYSTEM * 5 + "What is an atom?",
]


def prompts_of(tokenizer: TextTokenizer) -> list[list[int]]:
    """The questions as the model reads them."""
    return [
        tokenizer.encode(f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n")
        for question in QUESTIONS
    ]


def kept_answers() -> list[list[int]]:
    """One for each question, in their order."""
    return json.loads(KEPT.read_text())["answers"]


def read_model(path: Path) -> torch.nn.Module:
    """The default model as transformers reads its file, in float32."""
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(
        str(path.parent), gguf_file=path.name, dtype=torch.float32
    ).eval()


def answer_of(model: torch.nn.Module, prompt: list[int], end: int) -> list[int]:
    """At most NEW_TOKENS tokens, each the likeliest; `end` is the last where it is one of them."""
    answer: list[int] = []
    read, past = prompt, None
    with torch.inference_mode():
        while len(answer) < NEW_TOKENS and end not in answer:
            found = model(torch.tensor([read]), past_key_values=past, use_cache=True)
            answer.append(int(found.logits[0, -1].argmax()))
            read, past = answer[-1:], found.past_key_values
    return answer


def main() -> None:
    import transformers

    model, tokenizer = read_model(MODEL), load_text(str(MODEL))[0]
    [end] = tokenizer.encode("<|im_end|>")
    answers = [answer_of(model, prompt, end) for prompt in prompts_of(tokenizer)]
    made_by = f"transformers {transformers.__version__}, float32, {MODEL.name}"
    lines = ",\n".join(f"  {json.dumps(answer)}" for answer in answers)
    KEPT.write_text(f'{{"made_by": {json.dumps(made_by)}, "answers": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
