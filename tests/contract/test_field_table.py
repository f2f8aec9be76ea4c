"""docs/api.md lists each field of the published schemas as honoured or refused: OpenAI's and
Anthropic's.

The clients' own types are the list; our schemas say which of the two it is.
"""

import re
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from anthropic.types import message_count_tokens_params, message_create_params
from openai.types import (
    batch_create_params,
    completion_create_params,
    embedding_create_params,
    moderation_create_params,
    upload_complete_params,
    upload_create_params,
)
from openai.types.audio import (
    speech_create_params,
    transcription_create_params,
    translation_create_params,
)
from openai.types.chat import completion_create_params as chat_params
from openai.types.conversations import conversation_create_params, conversation_update_params
from openai.types.responses import response_create_params

from backend.api.schemas.anthropic import CountTokens, MessagesCreate
from backend.api.schemas.files import BatchCreate, UploadComplete, UploadCreate
from backend.api.schemas.openai_audio import (
    SpeechCreate,
    TranscriptionForm,
    TranslationForm,
)
from backend.api.schemas.openai_chat import ChatCompletionRequest
from backend.api.schemas.openai_completions import CompletionRequest
from backend.api.schemas.openai_embeddings import EmbeddingsRequest
from backend.api.schemas.openai_moderations import ModerationRequest
from backend.api.schemas.responses import ConversationChange, ConversationNew, ResponseCreate

API = Path(__file__).parents[2] / "docs" / "api.md"
SCHEMAS: dict[str, tuple[Any, Any]] = {
    "/v1/chat/completions": (chat_params, ChatCompletionRequest),
    "/v1/completions": (completion_create_params, CompletionRequest),
    "/v1/responses": (response_create_params, ResponseCreate),
    "/v1/conversations": (conversation_create_params, ConversationNew),
    "/v1/conversations/{id}": (conversation_update_params, ConversationChange),
    "/v1/embeddings": (embedding_create_params, EmbeddingsRequest),
    "/v1/moderations": (moderation_create_params, ModerationRequest),
    "/v1/uploads": (upload_create_params, UploadCreate),
    "/v1/uploads/{id}/complete": (upload_complete_params, UploadComplete),
    "/v1/audio/transcriptions": (transcription_create_params, TranscriptionForm),
    "/v1/audio/translations": (translation_create_params, TranslationForm),
    "/v1/audio/speech": (speech_create_params, SpeechCreate),
    "/v1/batches": (batch_create_params, BatchCreate),
    "/v1/messages": (message_create_params, MessagesCreate),
    "/v1/messages/count_tokens": (message_count_tokens_params, CountTokens),
}
ROW = re.compile(r"^\| `(/v1/[^`]*)` \| (.*?) \| (.*?) \|$", re.M)


def fields_of(module: Any) -> set[str]:
    """Of the parameters of one call: the TypedDicts whose names end in Params or ParamsBase."""
    kinds = [
        one
        for name, one in vars(module).items()
        if re.search(r"(Create|Update|Complete|Tokens)Params(Base|Streaming|NonStreaming)?$", name)
        and hasattr(one, "__annotations__")
    ]
    assert kinds, module
    return {name for kind in kinds for name in get_annotations(kind)}


def get_annotations(kind: Any) -> set[str]:
    try:
        return set(get_type_hints(kind))
    except NameError:
        return set(kind.__annotations__)


def table() -> dict[str, tuple[set[str], set[str]]]:
    rows = ROW.findall(API.read_text())
    return {path: (names(honoured), names(refused)) for path, honoured, refused in rows}


def names(cell: str) -> set[str]:
    return set(re.findall(r"`([^`]+)`", cell))


def known_of(path: str) -> tuple[set[str], set[str]]:
    """What our schema honours and refuses of the published fields."""
    module, schema = SCHEMAS[path]
    published = fields_of(module)
    aliases = {
        (field.alias or name).removesuffix("[]") for name, field in schema.model_fields.items()
    }
    aliases |= {"file"} & published  # beside the form
    refused = set(getattr(schema, "refused", {}))
    assert published - aliases - refused == set(), path
    return published & aliases - refused, published & refused


@pytest.mark.parametrize("path", sorted(SCHEMAS))
def test_each_published_field_is_in_the_table(path: str) -> None:
    assert table().get(path) == known_of(path), row(path)


def row(path: str) -> str:
    """What the table has to say."""
    honoured, refused = (
        ", ".join(f"`{name}`" for name in sorted(names)) or "-" for names in known_of(path)
    )
    return f"| `{path}` | {honoured} | {refused} |"
