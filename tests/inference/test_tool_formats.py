"""How each family of models writes calls: held by its grammar, read however it is cut."""

from __future__ import annotations

import json
from typing import Any

import pytest
from llguidance import LLMatcher, LLTokenizer

from inference.sampling.guide import _Vocabulary
from inference.text.load import load_text
from inference.text.tools.formats import FORMATS, HERMES, ToolCall, ToolFormat, format_of
from inference.text.tools.grammar import CallRules, Tool, arguments_schema, call_grammar
from inference.text.tools.parser import parser_of
from inference.text.tools.parts import CallBegins, Content

pytestmark = pytest.mark.model

WEATHER = Tool(
    "get_weather",
    {
        "type": "object",
        "properties": {"city": {"type": "string"}, "unit": {"enum": ["C", "F"]}},
        "required": ["city"],
    },
)
TOOLS = [WEATHER, Tool("now", None)]
PARIS, ROME = '{"city": "Pa\\"r}is", "unit": "C"}', '{"city": "Rome"}'
DEEPSEEK = "<\uff5ctool\u2581{}\uff5c>"
# As the models' own documentation shows them.
SAMPLES = {
    "hermes": '<tool_call>\n{"name": "get_weather", "arguments": %s}\n</tool_call>\n<tool_call>\n'
    '{"name": "now", "arguments": {}}\n</tool_call>',
    "llama3_json": '{"name": "get_weather", "parameters": %s}; {"name": "now", "parameters": {}}',
    "pythonic": '[get_weather(city="Pa\\"r}is", unit="C"), now()]',
    "mistral": '[TOOL_CALLS][{"name": "get_weather", "arguments": %s}, '
    '{"name": "now", "arguments": {}}]',
    "mistral_args": "[TOOL_CALLS]get_weather[ARGS]%s[TOOL_CALLS]now[ARGS]{}",
    "harmony": "<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>%s"
    "<|call|>",
    "deepseek_v3": "{begins}{begin}function{sep}get_weather\n```json\n%s\n```{end}\n"
    "{begin}function{sep}now\n```json\n{{}}\n```{end}{ends}",
    "deepseek_v31": "{begins}{begin}get_weather{sep}%s{end}{begin}now{sep}{{}}{end}{ends}",
}


def sample(form: ToolFormat) -> str:
    text = SAMPLES[form.name]
    if form.name.startswith("deepseek"):
        text = text.replace("%s", "@@").format(
            begins=DEEPSEEK.format("calls\u2581begin"),
            ends=DEEPSEEK.format("calls\u2581end"),
            begin=DEEPSEEK.format("call\u2581begin"),
            end=DEEPSEEK.format("call\u2581end"),
            sep=DEEPSEEK.format("sep"),
        )
        return text.replace("@@", PARIS)
    return text.replace("%s", PARIS)


def expected(form: ToolFormat) -> list[tuple[str, Any]]:
    calls = [("get_weather", json.loads(PARIS)), ("now", {})]
    return calls[:1] if form.one_call else calls


EVERY = pytest.mark.parametrize("form", [form for form, _ in FORMATS], ids=lambda form: form.name)


@pytest.fixture(scope="module")
def matcher(model_path) -> Any:
    tokenizer, _ = load_text(str(model_path))
    words: Any = _Vocabulary(tokenizer, [2], tokenizer.vocab_size)
    vocabulary = LLTokenizer(words, eos_token=[2])

    def accepts(grammar: str, text: str) -> tuple[bool, bool]:
        """Whether all of `text` may be said, and whether it may end there."""
        made = LLMatcher(vocabulary, LLMatcher.grammar_from_lark(grammar))
        assert not made.is_error(), made.get_error()
        ids = tokenizer.encode(text, add_special_tokens=False)
        return made.try_consume_tokens(ids) == len(ids), made.is_accepting()

    return accepts


def grammar_of(form: ToolFormat, *, text: bool, many: bool = True) -> str:
    schemas = {tool.name: arguments_schema(tool) for tool in TOOLS}
    rules = CallRules(TOOLS, text=text, many=many)
    return call_grammar(form, rules, lambda _: None, frozenset(), schemas)


def parse(form: ToolFormat, text: str, size: int) -> tuple[str, list[tuple[str, Any]]]:
    parser = parser_of(form)
    parts = [p for at in range(0, len(text), size) for p in parser.feed(text[at : at + size])]
    content, calls = "", []
    for part in [*parts, *parser.finish()]:
        if isinstance(part, Content):
            content += part.text
        elif isinstance(part, CallBegins):
            calls.append([part.name, ""])
        else:
            calls[-1][1] += part.text
    return content, [(name, json.loads(arguments)) for name, arguments in calls]


@EVERY
@pytest.mark.parametrize("text", [True, False])
def test_grammar_allows_the_familys_calls(form, text, matcher):
    assert matcher(grammar_of(form, text=text), sample(form)) == (True, True)


@EVERY
def test_only_auto_allows_text(form, matcher):
    assert matcher(grammar_of(form, text=True), form.preface + "It is nice.") == (True, True)
    assert matcher(grammar_of(form, text=False), "It is nice.")[0] is False


@EVERY
def test_calls_of_unknown_functions_or_arguments_are_impossible(form, matcher):
    whole = sample(form)
    for wrong in (whole.replace("get_weather", "get_whether"), whole.replace("city", "town")):
        for text in (True, False):
            assert matcher(grammar_of(form, text=text), wrong)[0] is False


@EVERY
def test_one_call_is_all_where_calls_are_not_parallel(form, matcher):
    one = grammar_of(form, text=False, many=False)
    assert form.one_call or matcher(one, sample(form))[0] is False


@EVERY
@pytest.mark.parametrize("size", [1, 2, 7, 10_000])
def test_calls_are_read_however_the_text_is_cut(form, size):
    assert parse(form, sample(form), size) == ("", expected(form))
    if form.anywhere:
        assert parse(form, "Let me see.\n" + sample(form), size) == ("Let me see.", expected(form))


@EVERY
@pytest.mark.parametrize("size", [1, 3, 10_000])
@pytest.mark.parametrize("text", ["A <tool_ca", "x < y [TOOL", "It is {nice}.\n", " a\n\nb "])
def test_text_is_read_as_it_is(form, size, text):
    assert parse(form, form.preface + text, size) == (text, [])


@EVERY
def test_continued_answer_has_the_form_that_it_would_have_had(form, matcher):
    """What an answer has so far, written again, is a beginning that the grammar goes on from."""
    arguments = PARIS if form.is_python else PARIS[:12]
    calls = [ToolCall("get_weather", arguments)]
    content = "Let me see." if form.anywhere else ""
    text = "".join(part for part, _ in form.text_of(content, calls))
    assert matcher(grammar_of(form, text=True), text)[0] is True
    whole = sample(form)
    rest = whole[
        whole.index(text.removeprefix(content).lstrip())
        + len(text.removeprefix(content).lstrip()) :
    ]
    parser = parser_of(form)
    parser.feed(text)
    assert parser.calls == 1
    parts = parser.feed(rest)
    names = [part.name for part in parts if isinstance(part, CallBegins)]
    assert names == [name for name, _ in expected(form)[1:]]


def test_family_is_known_by_the_template(model_path):
    assert format_of("{{ '<tool_call>' }}") is HERMES
    assert format_of("[TOOL_CALLS]").name == "mistral"
    assert format_of("[TOOL_CALLS][ARGS]").name == "mistral_args"
    assert format_of("nothing of tools") is HERMES
    _, template = load_text(str(model_path))
    assert template is not None
    assert not template.shows_tools


def test_tools_are_described_in_the_system_message_where_the_template_knows_none(model_path):
    _, template = load_text(str(model_path))
    assert template is not None
    tools = [{"type": "function", "function": {"name": "now", "description": "The <|im_end|>"}}]
    call = {"function": {"name": "now", "arguments": {}}, "id": "1", "type": "function"}
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Time?"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": "12:00", "tool_call_id": "1"},
        {"role": "tool", "content": "13:00", "tool_call_id": "2"},
    ]
    parts = template.render(messages, add_generation_prompt=True, tools=tools)
    text = "".join(parts)
    assert text.count("<|im_start|>system") == 1
    assert "Be brief.\n\n" in text and '"name": "now"' in text
    assert '<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>' in text
    assert text.count("<|im_start|>user") == 2
    assert "12:00\n</tool_response>\n<tool_response>\n13:00" in text
    # What a tool's description spells is no special token: it is cut inside.
    assert len(parts) == 2 and parts[0].endswith("The <")
