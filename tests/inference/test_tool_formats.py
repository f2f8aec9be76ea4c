"""How each family of models writes calls: held by its grammar, read however it is cut."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pytest
from llguidance import LLMatcher, LLTokenizer
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

from inference.sampling.guide import _Vocabulary
from inference.server.prompts import answer_segments
from inference.server.schemas import ChatRequest, InputMessage
from inference.server.thoughts import Thinking
from inference.server.tools import Answered, CallDeltas, ToolUse, WholeAnswer
from inference.text.chat_template import ChatTemplate
from inference.text.load import load_text
from inference.text.tokenizer import TextTokenizer
from inference.text.tools.formats import FORMATS, HARMONY, HERMES, ToolCall, ToolFormat, format_of
from inference.text.tools.grammar import CallRules, Tool, arguments_schema, call_grammar
from inference.text.tools.parser import parser_of
from inference.text.tools.parts import CallBegins, Content
from inference.text.tools.repeats import RepeatWatch

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


def parse(
    form: ToolFormat, text: str, size: int, bare_names: Sequence[str] = ()
) -> tuple[str, list[tuple[str, Any]]]:
    parser = parser_of(form, bare_names)
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


HARMONY_MARKS = ("channel", "message", "constrain", "call", "end", "start", "return")
HARMONY_TEMPLATE = """{%- for tool in tools or [] %}
{{- 'namespace functions.' + tool.function.name }}
{%- endfor %}{{ 'Reasoning: ' + (reasoning_effort or 'medium') + ' <|channel|>analysis' }}
{%- for message in messages %}{{ '<|start|>' + message.role }}
{%- if message.role == 'assistant' %}{{ '<|channel|>final' }}{% endif %}
{{- '<|message|>' + message.content }}{% if not loop.last %}{{ '<|end|>' }}{% endif %}
{%- endfor %}{% if add_generation_prompt %}{{ '<|end|><|start|>assistant' }}{% endif %}"""


@pytest.fixture(scope="module")
def harmony() -> tuple[TextTokenizer, ChatTemplate]:
    """Bytes, and the marks of gpt-oss."""
    marks = [AddedToken(f"<|{mark}|>", special=True) for mark in HARMONY_MARKS]
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    known = Tokenizer(models.BPE({char: i for i, char in enumerate(alphabet)}, []))
    known.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    known.decoder = decoders.ByteLevel()
    known.add_special_tokens(marks)
    text = TextTokenizer(known, bos_token=None, eos_token="<|return|>", add_bos=False)
    template = ChatTemplate(
        HARMONY_TEMPLATE,
        special_tokens=text.special_tokens,
        bos_token=None,
        eos_token="<|return|>",
    )
    return text, template


THOUGHT = "<|channel|>analysis<|message|>They ask.<|end|><|start|>assistant"
CALL = (
    "<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>"
    '{"city": "Rome"}<|call|>'
)
FINAL = "<|channel|>final<|message|>It rains."
PREAMBLE = "<|channel|>commentary<|message|>Let me look.<|end|><|start|>assistant"


def test_harmony_thinks_then_calls_or_answers(harmony):
    """gpt-oss ends its turn with `<|call|>`, which is one of the tokens that end an answer."""
    tokenizer, template = harmony
    assert template.tool_format is HARMONY and template.reasoning_format is not None
    body = msgspec.convert(
        {
            "messages": [{"role": "user", "content": "Weather?"}],
            "tools": [
                {"type": "function", "function": {"name": t.name, "parameters": t.parameters}}
                for t in TOOLS
            ],
        },
        ChatRequest,
    )
    use = ToolUse.of(body, template)
    assert use is not None
    ends = [tokenizer.special_id("<|return|>"), tokenizer.special_id("<|call|>")]
    words: Any = _Vocabulary(tokenizer, ends, tokenizer.vocab_size)
    vocabulary = LLTokenizer(words, eos_token=ends)

    def is_allowed(text: str) -> bool:
        made = LLMatcher(vocabulary, use.grammar(tokenizer))
        assert not made.is_error(), made.get_error()
        ids = tokenizer.encode(text.removesuffix("<|call|>"), add_special_tokens=False)
        if made.try_consume_tokens(ids) < len(ids):
            return False
        allowed = np.frombuffer(made.compute_bitmask(), np.uint8)
        return bool(np.unpackbits(allowed, bitorder="little")[ends].all())

    for text in (THOUGHT + CALL, CALL, THOUGHT + FINAL, FINAL, THOUGHT + PREAMBLE + CALL):
        assert is_allowed(text), text
    assert is_allowed(PREAMBLE + CALL) and not is_allowed(PREAMBLE)
    assert not is_allowed(THOUGHT + CALL.replace("Rome", 'R", "x": "'))
    assert not is_allowed(THOUGHT + THOUGHT)

    thinking = Thinking.of(body, template, use)
    writer = thinking.writer(body, CallDeltas(use.form, "x", Answered()), opened=False)
    whole = WholeAnswer([])
    for delta in [d for char in THOUGHT + CALL for d in writer.feed(char)] + writer.finish():
        whole.take(delta)
    message = whole.message()
    [call] = message["tool_calls"]
    assert (message["content"], message["reasoning_content"]) == (None, "They ask.")
    assert json.loads(call["function"]["arguments"]) == {"city": "Rome"}
    assert writer.stop_reason == "tool_calls"


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ({"content": "It"}, FINAL[:29]),
        ({"content": "It", "reasoning_content": "They ask."}, THOUGHT + FINAL[:29]),
        ({"content": "", "reasoning_content": "They"}, THOUGHT[:34]),
        (
            {
                "content": None,
                "reasoning_content": "They ask.",
                "tool_calls": [{"function": {"name": "get_weather", "arguments": '{"ci'}}],
            },
            THOUGHT + CALL[:79],
        ),
        (
            {
                "content": "Let me look.",
                "reasoning_content": "They ask.",
                "tool_calls": [{"function": {"name": "get_weather", "arguments": '{"ci'}}],
            },
            THOUGHT + PREAMBLE + CALL[:79],
        ),
    ],
)
def test_harmony_answer_goes_on_where_it_was_cut(harmony, said, written):
    message = msgspec.convert({"role": "assistant", **said}, InputMessage)
    assert "".join(answer_segments(harmony[1], message, opened=False)) == written


@pytest.mark.parametrize("size", [1, 2, 7, 10_000])
@pytest.mark.parametrize(
    ("text", "content", "calls"),
    [
        (PREAMBLE + CALL, "Let me look.", ["get_weather"]),
        (PREAMBLE + FINAL, "Let me look.\n\nIt rains.", []),
        (PREAMBLE[:44], "Let me look.", []),
        (PREAMBLE + CALL[:30], "Let me look.", []),
        (f"{CALL}<|start|>assistant{CALL}", "", ["get_weather", "get_weather"]),
    ],
)
def test_harmony_preamble_is_text_for_the_user(text, content, calls, size):
    said, called = parse(HARMONY, text, size)
    assert (said, [name for name, _ in called]) == (content, calls)


def test_harmony_preamble_streams_and_is_not_sent_again_where_it_goes_on():
    parser = parser_of(HARMONY)
    sent = [part for char in PREAMBLE[:44] for part in parser.feed(char)]
    assert len(sent) > 5 and "".join(p.text for p in sent if isinstance(p, Content)) == (
        "Let me look."
    )
    so_far = Answered("Let me look.", [ToolCall("get_weather", '{"ci')])
    deltas = CallDeltas(HARMONY, "x", so_far)
    rest = [*deltas.feed('ty": "Rome"}'), *deltas.feed("<|call|>"), *deltas.finish()]
    assert rest == [{"tool_calls": [{"index": 0, "function": {"arguments": 'ty": "Rome"}'}}]}]
    assert deltas.stop_reason == "tool_calls"


def test_repeated_call_is_not_sent_where_it_ends_the_answer():
    call = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "%s"}}\n</tool_call>\n'
    text = call % "Rome" + call % "Oslo" + call % "Rome"
    watch, deltas = RepeatWatch(parser_of(HERMES, NAMES)), []
    writer = CallDeltas(HERMES, "x", Answered(), NAMES, ends_on_repeat=True)
    for char in text:
        deltas += writer.feed(char)
        if watch.repeats_after(char):
            break
    deltas += writer.finish()
    sent = [delta["tool_calls"][0] for delta in deltas]
    assert [one["index"] for one in sent if "id" in one] == [0, 1]
    assert "".join(one["function"]["arguments"] for one in sent) == (
        '{"city": "Rome"}{"city": "Oslo"}'
    )


def test_call_that_differs_at_its_end_is_sent_whole():
    first, second = (f'{{"name": "now", "arguments": {{"a": "{x}"}}}}\n' for x in ("long", "lot"))
    writer = CallDeltas(HERMES, "x", Answered(), NAMES, ends_on_repeat=True)
    sent = [one for char in first + second for one in writer.feed(char)] + writer.finish()
    arguments = "".join(one["tool_calls"][0]["function"]["arguments"] for one in sent)
    assert arguments == '{"a": "long"}{"a": "lot"}'


NAMES = [tool.name for tool in TOOLS]
BARE = {
    "fence": '```json\n{\n  "name": "get_weather",\n  "arguments": %s\n}\n```',
    "object": '{"name": "get_weather", "arguments": %s}',
    "marks": '<tool_call>\n{"name": "get_weather", "arguments": %s}\n</tool_call>',
}
BARE_TWO = {
    "fences": '```json\n{"name": "get_weather", "arguments": %s}\n```\n```json\n'
    '{"name": "now", "arguments": {}}\n```',
    "list": '```\n[{"name": "get_weather", "arguments": %s}, {"name": "now", "arguments": {}}]'
    "\n```",
    "lines": '{"name":"get_weather","arguments":%s}\n{"name": "now", "arguments": {}}',
}
NO_CALLS = (
    '```json\n{"name": "Bob", "arguments": {"a": 1}}\n```\nThat is all.\n',
    '{"name": "get_weather", "age": 3}',
    '[1, {"name": "get_weathers", "arguments": {}}]',
    "```python\nprint({})\n```\n`a` < [b",
    '```json\n{"name": "get_weather", "arguments": "no object"}',
)


def parse_bare(text: str, size: int) -> tuple[str, list[tuple[str, Any]]]:
    return parse(HERMES, text, size, NAMES)


@pytest.mark.parametrize("size", [1, 3, 10_000])
@pytest.mark.parametrize("before", ["", "Let me see:\n\n"])
def test_json_that_names_a_given_tool_is_a_call_without_marks_too(size, before):
    for text in BARE.values():
        read = parse_bare(before + text % PARIS, size)
        assert read == (before.rstrip(), [("get_weather", json.loads(PARIS))]), text
    for text in BARE_TWO.values():
        assert parse_bare(before + text % PARIS, size) == (before.rstrip(), expected(HERMES)), text


@pytest.mark.parametrize("size", [1, 3, 10_000])
@pytest.mark.parametrize("text", [*NO_CALLS, "```js", '{"name": "get_w', " a\n\n<tool b> "])
def test_other_json_comes_out_as_it_was_written(text, size):
    assert parse_bare(text, size) == (text, [])


def test_line_break_after_a_call_commits_to_no_other(matcher):
    """A token of a model may hold the end of a mark and a line break."""
    for text in (True, False):
        grammar = grammar_of(HERMES, text=text)
        assert matcher(grammar, sample(HERMES) + "\n") == (True, True)
        assert matcher(grammar, sample(HERMES) + "\n" + sample(HERMES)) == (True, True)
        assert matcher(grammar, sample(HERMES) + "\nSo")[0] is False


def test_required_call_may_lack_its_marks(matcher):
    grammar = grammar_of(HERMES, text=False)
    for text in (*BARE.values(), *BARE_TWO.values()):
        assert matcher(grammar, text % ROME) == (True, True), text
    for text in NO_CALLS:
        assert matcher(grammar, text)[0] is False, text


def test_grammar_holds_a_bare_call_as_one_with_marks(matcher):
    free, single = grammar_of(HERMES, text=True), grammar_of(HERMES, text=True, many=False)
    for text in BARE.values():
        for grammar in (free, single):
            assert matcher(grammar, "So:\n" + text % ROME) == (True, True), text
            assert matcher(grammar, text % '{"town": "Rome"}')[0] is False
            assert matcher(grammar, text % ROME + " It is")[0] is False
        assert matcher(grammar_of(HERMES, text=False), "So:\n" + text % ROME)[0] is False
    for text in BARE_TWO.values():
        assert matcher(free, text % ROME) == (True, True), text
        assert matcher(single, text % ROME)[0] is False
    for text in NO_CALLS[:4]:
        assert matcher(free, text) == (True, True), text
