"""The body of POST /v1/rerank: as Cohere, Jina and vLLM have it."""

from typing import Any

from pydantic import Field, field_validator

from backend.api.schemas.base import ModelName, RequestModel, Text

MAX_DOCUMENTS = 1_000  # Cohere's own limit
MAX_CHARACTERS = 2_000_000


class RerankDocument(RequestModel):
    text: Text


class RerankBody(RequestModel):
    query: str = Field(min_length=1, max_length=100_000)
    documents: list[Text | RerankDocument] = Field(min_length=1, max_length=MAX_DOCUMENTS)
    model: ModelName = "auto"
    top_n: int | None = Field(default=None, ge=1, description="All of them, where it is not said.")
    return_documents: bool = True
    user: str | None = Field(default=None, max_length=512)

    @field_validator("documents")
    @classmethod
    def bounded(cls, value: list[Any]) -> Any:
        texts = [_text(document) for document in value]
        if not all(texts):
            raise ValueError("a document must not be empty")
        if sum(map(len, texts)) > MAX_CHARACTERS:
            raise ValueError(f"the documents are longer than {MAX_CHARACTERS} together")
        return value

    @property
    def texts(self) -> list[str]:
        return [_text(document) for document in self.documents]


def _text(document: str | RerankDocument) -> str:
    return document if isinstance(document, str) else document.text
