"""The alignment loop: whole pairs, honest splits, what is kept; and that DPO moves the margin."""

from pathlib import Path
from typing import Any

import pytest

from safety.training.align.evaluation import Comparison, Measured, report
from safety.training.align.examples import Example, complete, split, whole_sentences
from safety.training.preferences.pairs import Messages, PreferencePair
from safety.training.preferences.starting import starting_pairs
from safety.training.refusals import refuses


def asking(text: str) -> Messages:
    return ({"role": "user", "content": text},)


def test_open_side_is_the_models_answer_in_whole_sentences() -> None:
    pairs = [
        PreferencePair(asking("a"), "No.", None, "starting", refuses=True),
        PreferencePair(asking("b"), None, "No.", "starting", refuses=False),
        PreferencePair(asking("c"), "Said.", None, "starting", refuses=True),
    ]
    examples = complete(pairs, lambda prompts: ["Said. And half a"] * len(prompts))
    assert examples == [
        Example(asking("a"), "No.", "Said.", refuses=True),
        Example(asking("b"), "Said.", "No.", refuses=False),
    ]
    assert whole_sentences("No end at all") == "No end at all"


def test_no_prompt_is_both_trained_on_and_measured() -> None:
    examples = [
        Example(asking(str(number // 2)), f"{number}", "No.", refuses=number % 4 < 2)
        for number in range(80)
    ]
    parts = split(examples, held_out_share=0.25)
    trained, measured = ({str(e.prompt) for e in part} for part in (parts.train, parts.held_out))
    assert trained.isdisjoint(measured) and len(parts.train) + len(parts.held_out) == 80
    assert {e.refuses for e in parts.held_out} == {True, False}


BEFORE = Measured([1.0, -1.0], refused_harmful=0.4, refused_honest=0.1, helpful_perplexity=4.0)


@pytest.mark.parametrize(
    ("after", "refusal", "helpfulness"),
    [
        (Measured([2.0, 1.0], 0.8, 0.1, 4.2), True, True),
        (Measured([2.0, 1.0], 0.3, 0.1, 4.0), False, True),  # refuses less harm
        (Measured([0.5, -2.0], 0.8, 0.1, 4.0), False, True),  # the margin fell
        (Measured([2.0, 1.0], 0.8, 0.3, 4.0), True, False),  # refuses honest prompts
        (Measured([2.0, 1.0], 0.8, 0.1, 5.0), True, False),  # forgot how to help
    ],
)
def test_adapter_is_kept_only_when_refusal_and_helpfulness_hold(
    after: Measured, refusal: bool, helpfulness: bool
) -> None:
    found = Comparison(BEFORE, after)
    assert (found.refusal_holds, found.helpfulness_holds) == (refusal, helpfulness)
    assert found.keep is (refusal and helpfulness)
    assert ("Adapter kept" in report(found)) is found.keep


def test_starting_pairs_are_the_same_for_a_seed_and_half_of_them_refuse() -> None:
    pairs = starting_pairs(40, seed=3)
    assert pairs == starting_pairs(40, seed=3) != starting_pairs(40, seed=4)
    assert sum(pair.refuses for pair in pairs) == 20
    assert all((pair.chosen is None) != (pair.rejected is None) for pair in pairs)
    assert all(refuses(pair.chosen or pair.rejected or "") for pair in pairs)


def test_margin_grows_in_a_short_run(tmp_path: Path) -> None:
    """A tiny model that knows a few words: the whole way through trl, in seconds."""
    pytest.importorskip("trl", reason="the optional group safety-align is not installed")
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    from safety.training.align.model import log_likelihoods
    from safety.training.align.training import Settings, train

    torch.manual_seed(0)
    examples = [
        Example(asking(f"do harm {n}"), "i can not help", "sure", refuses=True) for n in range(8)
    ]
    tokenizer = word_tokenizer("do harm 0 1 2 3 4 5 6 7 i can not help sure")
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=1,
            num_attention_heads=2,
            num_key_value_heads=2,
            pad_token_id=tokenizer.pad_token_id,
        )
    )

    def margin(of: Any) -> float:
        chosen = log_likelihoods(of, tokenizer, [(e.prompt, e.chosen) for e in examples])
        rejected = log_likelihoods(of, tokenizer, [(e.prompt, e.rejected) for e in examples])
        return sum(c[0] - r[0] for c, r in zip(chosen, rejected, strict=True)) / len(examples)

    before = margin(model)
    settings = Settings(steps=6, batch=4, learning_rate=1e-2, max_tokens=32)
    trained = train(model, tokenizer, examples, settings, tmp_path)
    assert margin(trained) > before + 0.1
    with trained.disable_adapter():
        assert margin(trained) == pytest.approx(before, abs=1e-3)


def word_tokenizer(words: str) -> Any:
    """A tokenizer of whole words, with a chat template."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    known = ["<pad>", "<end>", "<unk>", "<user>", "<assistant>", *words.split()]
    inner = Tokenizer(models.WordLevel({word: n for n, word in enumerate(known)}, "<unk>"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner, pad_token="<pad>", eos_token="<end>", unk_token="<unk>"
    )
    tokenizer.chat_template = (
        "{% for m in messages %}<{{ m['role'] }}> {{ m['content'] }} <end> {% endfor %}"
        "{% if add_generation_prompt %}<assistant> {% endif %}"
    )
    return tokenizer
