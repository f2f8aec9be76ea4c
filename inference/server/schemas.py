"""Request bodies. A field that is not here is refused with a 400 that names it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta

from inference.core import SamplingParams
from inference.images.prepared import Detail
from inference.server.structured import ResponseFormat
from inference.server.tool_schemas import CalledTool, Choice, Tools
from inference.text.tools.formats import ToolCall, ToolFormat
from inference.text.tools.prompt import call_for_template

MAX_LOGPROBS = 20
MAX_TOP_K = 1_000_000
"""More than any vocabulary has tokens; the core computes with it in 64 bits."""

MAX_PROMPT_ITEMS = 1 << 20
"""Token ids of a prompt, or prompts: more than any context; the body's size is bounded too."""

NaturalNumber = Annotated[int, Meta(ge=0)]
PositiveNumber = Annotated[int, Meta(ge=1)]
Priority = Annotated[int, Meta(ge=-(2**31), lt=2**31)]
TokenId = Annotated[int, Meta(ge=0)]
_PromptList = list[TokenId | str | list[TokenId]]
Prompts = str | Annotated[_PromptList, Meta(min_length=1, max_length=MAX_PROMPT_ITEMS)]
"""Text, token ids, or a list of either; never a mixture."""
StopString = Annotated[str, Meta(min_length=1, max_length=256)]


class StreamOptions(msgspec.Struct, forbid_unknown_fields=True):
    include_usage: bool = False
    continuous_usage_stats: bool = False


MADE_BY_SERVER = {"continued_tokens", "grammar", "grammar_prefix", "logprobs"}
"""Of the sampler's parameters, those that bodies ask for in words of their own."""

if TYPE_CHECKING:
    _SamplingFields = msgspec.Struct  # its fields are read by their names alone
else:
    _SamplingFields = msgspec.defstruct(
        "_SamplingFields",
        [
            (field.name, field.type | None, None)  # null: a client that does not set it
            for field in msgspec.structs.fields(SamplingParams)
            if field.name not in MADE_BY_SERVER
        ],
        kw_only=True,
        forbid_unknown_fields=True,
        module=__name__,
    )


class GenerationFields(_SamplingFields, kw_only=True, forbid_unknown_fields=True):
    """What chat and text completions have in common.

    The sampler's parameters come from `SamplingParams` with their names, types and bounds; those
    that stand here too are taken in another form than the sampler has them.
    """

    model: str | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: Annotated[int, Meta(ge=1, le=16)] | None = None
    stop: StopString | Annotated[list[StopString], Meta(max_length=16)] | None = None
    stop_token_ids: list[TokenId] | None = None
    top_k: Annotated[int, Meta(ge=-1, le=MAX_TOP_K)] | None = None
    logit_bias: dict[str, Annotated[float, Meta(ge=-100.0, le=100.0)]] | None = None
    seed: int | None = None
    max_tokens: PositiveNumber | None = None
    min_tokens: NaturalNumber | None = None
    ignore_eos: bool = False
    stop_on_loop: bool | None = None
    """End an answer that has gone into a loop; a chat does by default, without `ignore_eos`."""
    skip_special_tokens: bool = True
    response_format: ResponseFormat | None = None
    guided_regex: Annotated[str, Meta(max_length=4096)] | None = None
    guided_choice: Annotated[list[str], Meta(min_length=1, max_length=256)] | None = None
    priority: Priority = 0
    timeout_s: Annotated[float, Meta(gt=0.0)] | None = None
    """The answer ends after so many seconds, with what it has and reason `timeout`."""
    cache_salt: Annotated[str, Meta(max_length=256)] | None = None
    """Cached blocks are found by requests of the same salt only."""
    kv_store: bool = True
    """What is computed for it may be kept outside the engine too, where there is such a place."""
    return_readouts: bool = False
    """Answer with what `--readout` reads of the tokens of prompt and answer, too."""
    user: str | None = None
    """Accepted because OpenAI's clients send it; it changes nothing here."""
    no_stop_trim: bool = False
    """This and the next four: what sglang-router and vllm-router add to every request. Taken where
    it asks for what is done anyway (`SENT_BY_ROUTERS`), else refused."""
    return_hidden_states: bool = False
    separate_reasoning: bool = True
    stream_reasoning: bool = True
    include_reasoning: bool = True


SENT_BY_ROUTERS = {
    "no_stop_trim": False,
    "return_hidden_states": False,
    "separate_reasoning": True,
    "stream_reasoning": True,
    "include_reasoning": True,
}
"""The only values that can be honoured."""


class TextPart(msgspec.Struct, forbid_unknown_fields=True, tag_field="type", tag="text"):
    text: str


class ImageURL(msgspec.Struct, forbid_unknown_fields=True):
    url: str
    """`data:image/…;base64,…`; nothing is fetched."""
    detail: Detail | None = None

    @property
    def wanted_detail(self) -> Detail:
        return self.detail or "auto"


class ImagePart(msgspec.Struct, forbid_unknown_fields=True, tag_field="type", tag="image_url"):
    image_url: ImageURL


class InputMessage(msgspec.Struct, forbid_unknown_fields=True):
    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | list[TextPart | ImagePart] | None = None
    """None only beside calls."""
    name: str | None = None
    reasoning_content: str | None = None
    """What an answer thought: of one that is continued, its beginning; of others, what the template
    makes of it."""
    tool_calls: list[CalledTool] | None = None
    tool_call_id: str | None = None

    @property
    def text(self) -> str:
        """Its content in one piece."""
        parts = self.content or ""
        if isinstance(parts, str):
            return parts
        return "".join(part.text for part in parts if isinstance(part, TextPart))

    @property
    def parts(self) -> list[dict[str, str]]:
        """Texts and images, as templates of models that see have them."""
        if not isinstance(self.content, list):
            return [{"type": "text", "text": self.text}]
        return [
            {"type": "text", "text": part.text} if isinstance(part, TextPart) else {"type": "image"}
            for part in self.content
        ]

    @property
    def calls(self) -> list[ToolCall]:
        return [
            ToolCall(one.function.name, one.function.arguments, one.id)
            for one in self.tool_calls or ()
        ]

    def for_template(self, tool_format: ToolFormat, *, in_parts: bool = False) -> dict[str, Any]:
        """The shape that chat templates expect: text in one piece, or parts where images are
        shown."""
        role = "system" if self.role == "developer" else self.role
        shaped: dict[str, Any] = {"role": role, "content": self.parts if in_parts else self.text}
        if self.name is not None:
            shaped["name"] = self.name
        if self.reasoning_content is not None:
            shaped["reasoning_content"] = self.reasoning_content
        if self.tool_call_id is not None:
            shaped["tool_call_id"] = tool_format.id_for_template(self.tool_call_id)
        if self.tool_calls:
            shaped["tool_calls"] = [call_for_template(call, tool_format) for call in self.calls]
        return shaped


class Prediction(msgspec.Struct, forbid_unknown_fields=True):
    """What a client expects of the answer."""

    content: str | list[TextPart]
    type: Literal["content"] = "content"

    @property
    def text(self) -> str:
        if isinstance(self.content, str):
            return self.content
        return "".join(part.text for part in self.content)


class ChatRequest(GenerationFields, kw_only=True, forbid_unknown_fields=True):
    messages: Annotated[list[InputMessage], Meta(min_length=1)]
    tools: Tools | None = None
    tool_choice: Choice | None = None
    parallel_tool_calls: bool | None = None
    prediction: Prediction | None = None
    """Its tokens are drafts: it costs what it saves at most, and never changes the answer."""
    max_completion_tokens: PositiveNumber | None = None
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high", "xhigh"] | None = None
    logprobs: bool | None = None
    top_logprobs: Annotated[int, Meta(ge=0, le=MAX_LOGPROBS)] | None = None
    add_generation_prompt: bool | None = None
    continue_final_message: bool = False
    cache_public_messages: NaturalNumber = 0
    """The first so many messages are the product's own text and no tenant's: their blocks are
    found whatever the salt."""
    chat_template_kwargs: dict[str, Any] | None = None


class CompletionRequest(GenerationFields, kw_only=True, forbid_unknown_fields=True):
    prompt: Prompts
    logprobs: Annotated[int, Meta(ge=0, le=MAX_LOGPROBS)] | None = None
    best_of: Annotated[int, Meta(ge=1, le=16)] | None = None
    """Generate so many, answer the `n` whose tokens are likeliest on average."""
    echo: bool = False
    suffix: str | None = None
    """What comes after the answer, for models that were trained to fill in."""
    add_special_tokens: bool = True


class EmbeddingRequest(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    model: str | None = None
    input: Prompts
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: PositiveNumber | None = None
    priority: Priority = 0
    user: str | None = None
    """Accepted because OpenAI's clients send it; it changes nothing here."""


class RerankRequest(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    model: str | None = None
    query: str
    documents: Annotated[list[str], Meta(min_length=1, max_length=65536)]
    top_n: PositiveNumber | None = None
    return_documents: bool = True
    priority: Priority = 0


class TokenizeRequest(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Either `prompt` or `messages`."""

    model: str | None = None
    prompt: str | None = None
    messages: list[InputMessage] | None = None
    tools: Tools | None = None
    add_special_tokens: bool = True
    add_generation_prompt: bool = True
    continue_final_message: bool = False
    return_token_strs: bool = False


class DetokenizeRequest(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    model: str | None = None
    tokens: list[TokenId]
