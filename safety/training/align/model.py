"""The default model as weights that can be trained, and its answers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from safety.training.preferences.pairs import Messages

Model = Any
Tokenizer = Any


def load(file: Path) -> tuple[Model, Tokenizer]:
    """The model in a GGUF file, dequantized to float32, with its tokenizer (pads on the left)."""
    tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    tokenizer.padding_side = "left"
    model: Model = AutoModelForCausalLM.from_pretrained(
        file.parent, gguf_file=file.name, dtype=torch.float32
    )
    # Dequantized weights are ordinary ones; transformers still calls the model quantized, and
    # then refuses to train it.
    model.is_quantized = False
    model.hf_quantizer = None
    del model.config.quantization_config
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    return model, tokenizer


def answers(
    model: Model,
    tokenizer: Tokenizer,
    prompts: Sequence[Messages],
    *,
    max_tokens: int,
    batch: int = 8,
) -> list[str]:
    """The model's greedy answers, at most `max_tokens` each, in the order of the prompts."""
    model.eval()
    texts: list[str] = []
    for start in range(0, len(prompts), batch):
        encoded = tokenizer.apply_chat_template(
            [list(prompt) for prompt in prompts[start : start + batch]],
            add_generation_prompt=True,
            return_tensors="pt",
            return_dict=True,
            padding=True,
        )
        with torch.inference_mode():
            produced = model.generate(**encoded, max_new_tokens=max_tokens, do_sample=False)
        new = produced[:, encoded["input_ids"].shape[1] :]
        texts += [text.strip() for text in tokenizer.batch_decode(new, skip_special_tokens=True)]
    return texts


def log_likelihoods(
    model: Model, tokenizer: Tokenizer, pairs: Sequence[tuple[Messages, str]]
) -> list[tuple[float, int]]:
    """For each prompt and answer: the answer's log-likelihood in nats, and its tokens.

    The answer's tokens are those after the prompt's, as the chat template writes both, its
    end-of-turn token included.
    """
    model.eval()
    found = []
    for prompt, answer in pairs:
        before = _ids(tokenizer, list(prompt), add_generation_prompt=True)
        answered = [*prompt, {"role": "assistant", "content": answer}]
        ids = torch.tensor([_ids(tokenizer, answered, add_generation_prompt=False)])
        first = len(before)
        with torch.inference_mode():
            logits = model(ids).logits[0, first - 1 : -1]
        chosen = ids[0, first:]
        likelihood = torch.log_softmax(logits.float(), dim=-1).gather(1, chosen[:, None]).sum()
        found.append((float(likelihood), len(chosen)))
    return found


def _ids(tokenizer: Tokenizer, messages: list[dict[str, str]], **options: bool) -> list[int]:
    text = tokenizer.apply_chat_template(messages, tokenize=False, **options)
    ids: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
    return ids
