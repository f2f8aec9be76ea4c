"""Conversations and their messages, as the page reads and writes them."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field, StringConstraints

from backend.api.schemas.base import ModelName, RequestModel, ResponseModel
from backend.api.schemas.memories import MemoryNoteOut, UsedMemoryOut
from backend.conversations.models import Feedback, Message
from backend.conversations.selectors import Branch, BranchMessage
from backend.conversations.services import BulkAction
from backend.conversations.turns import FROM_OUTAGE, READ_IN_PART, SHOWS_SUPPORT
from backend.conversations.withheld import withheld_of

Title = Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)]
ID = Annotated[UUID, Field(strict=False)]


class ConversationCreate(RequestModel):
    title: Title = ""
    model: ModelName | None = Field(default=None, description="Default: the first model.")
    project_id: ID | None = Field(
        default=None, description="Whose rules hold for it. Default: the default project."
    )
    assistant_id: ID | None = Field(
        default=None, description="Whose instructions, model and parameters it begins with."
    )
    temporary: bool = Field(
        default=False,
        description="In no list; erased when it is deleted, or after an hour without a turn.",
    )


class BulkChange(RequestModel):
    ids: Annotated[list[ID], Field(min_length=1, max_length=200)]
    action: BulkAction


class BulkOut(ResponseModel):
    changed: int = Field(description="Those that are yours, and were not so already.")


class TrashErase(RequestModel):
    ids: Annotated[list[ID], Field(min_length=1, max_length=200)] | Literal["all"] = Field(
        description='Those in your trash; others are left alone. "all" empties it.'
    )


class TrashErasedOut(ResponseModel):
    erased: int
    generating: int = Field(
        description="Left in the trash, as an answer is still being generated in them."
    )
    remaining: int = Field(description="Not reached yet: ask again.")


class ChatParameters(RequestModel):
    """Sampling parameters of a chat; what is null is left to the model's own defaults."""

    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, ge=0, le=1)
    max_tokens: int | None = Field(default=None, ge=1, le=1_000_000)
    seed: int | None = Field(default=None, ge=-(2**53), le=2**53)
    presence_penalty: float | None = Field(default=None, ge=-2, le=2)
    frequency_penalty: float | None = Field(default=None, ge=-2, le=2)

    @property
    def stored(self) -> dict[str, Any]:
        return self.model_dump(exclude_none=True)


class ChatDefaultsBody(RequestModel):
    about: str = Field(default="", max_length=4_000, description="What you say about yourself.")
    style: str = Field(default="", max_length=4_000, description="How you want to be answered.")
    parameters: ChatParameters = Field(
        default_factory=ChatParameters, description="What a new chat of yours begins with."
    )
    summarises: bool | None = Field(
        default=None,
        description="Whether the beginning of your long chats is summarised. Null: as it is.",
    )


class ChatDefaultsOut(ResponseModel):
    about: str
    style: str
    parameters: ChatParameters
    summarises: bool


class SentMessageOut(ResponseModel):
    role: str
    text: str = Field(description="With the texts of attached files.")
    images: int


class SentPromptOut(ResponseModel):
    model: str | None
    instructions: str = Field(description="The system message; empty where there was none.")
    parameters: ChatParameters
    messages: list[SentMessageOut]
    input_tokens: int
    output_tokens: int
    cost: Decimal | None = Field(
        description="Before volume tiers; null where it is not in the ledger, or has no price."
    )
    currency: str
    stations: dict[str, float] | None = Field(
        description="Milliseconds that the answer was at each station on its way, in their order;"
        " null where they are not known."
    )
    answer_source: str = Field(
        description="Whose answer it got: `shared`, of an identical request while it ran;"
        " `exact`, a stored one; `outage`, a stored one while its model could not answer. Empty:"
        " it was computed."
    )


class SourceOut(ResponseModel):
    attachment_id: UUID
    filename: str
    place: str = Field(description='As it is cited: "page 3".')
    text: str
    cited: bool
    cited_as: list[str] = Field(
        description="What stands between square brackets where the answer cites it."
    )


class SourcesOut(ResponseModel):
    data: list[SourceOut]


class WithheldFileOut(ResponseModel):
    attachment_id: UUID
    filename: str
    in_part: bool = Field(description="The rest of its text was given.")


class WithheldTextOut(WithheldFileOut):
    text: str = Field(description="What the model was not given; of an image what OCR has read.")


class WithheldOut(ResponseModel):
    data: list[WithheldTextOut]


Tag = Annotated[str, StringConstraints(max_length=200)]


class ConversationUpdate(RequestModel):
    """Absent fields stay as they are."""

    title: Annotated[Title, Field(min_length=1)] | None = None
    pinned: bool | None = None
    archived: bool | None = None
    model: ModelName | None = None
    active_message_id: ID | None = Field(
        default=None, description="Any message; the newest leaf below it becomes active."
    )
    project_id: ID | None = Field(
        default=None, description="Whose rules hold from the next turn on."
    )
    instructions: str | None = Field(
        default=None, max_length=20_000, description="What the model reads before the messages."
    )
    parameters: ChatParameters | None = Field(
        default=None, description="Replaces all of them; null leaves them as they are."
    )
    tags: Annotated[list[Tag], Field(max_length=20)] | None = Field(
        default=None, description="Replaces all of them: at most 10 of at most 40 characters."
    )
    web_search: bool | None = Field(
        default=None, description="Offer the model the web, where the organization has a provider."
    )


class FeedbackIn(RequestModel):
    rating: Literal[1, -1] | None = Field(description="Null takes it back.")
    comment: Annotated[str, StringConstraints(max_length=5000)] = ""


class SummaryOut(ResponseModel):
    id: UUID
    title: str
    model: str
    pinned: bool
    archived: bool
    created_at: datetime
    updated_at: datetime
    generating: bool
    project_id: UUID | None = Field(description="Null: the default project.")
    temporary: bool
    tags: list[str] = Field(description="Your own words for it.")
    deleted_at: datetime | None = Field(description="It can be restored for 30 days after.")


class ConversationListOut(ResponseModel):
    data: list[SummaryOut]
    next_cursor: str | None


class TagOut(ResponseModel):
    tag: str
    count: int = Field(description="Of the conversations that are not archived.")


class TagListOut(ResponseModel):
    data: list[TagOut]


class ExcerptPartOut(ResponseModel):
    text: str = Field(description="As it was written: text, and never markup.")
    hit: bool = Field(description="It is what was looked for.")


class FoundOut(ResponseModel):
    conversation: SummaryOut
    message_id: UUID | None = Field(description="Null where only the title was found.")
    excerpt: list[ExcerptPartOut]


class FoundListOut(ResponseModel):
    data: list[FoundOut]


class FeedbackOut(ResponseModel):
    rating: int
    comment: str


class MessageOut(ResponseModel):
    id: UUID
    parent_id: UUID | None
    role: str
    content: str
    parts: list[dict[str, Any]]
    status: str
    model: str | None
    finish_reason: str | None
    created_at: datetime
    siblings: list[UUID]
    feedback: FeedbackOut | None
    generation_id: UUID | None
    has_documents: bool = Field(description="Attached files were read for it; see its sources.")
    memory: MemoryNoteOut | None = Field(
        description="Of a prompt: what is proposed of its words, or was kept."
    )
    memories: list[UsedMemoryOut] = Field(description="Of an answer: what was used of memory.")
    from_outage: bool = Field(
        description="It is a stored answer to the same prompt, given while its model could not"
        " answer."
    )
    read_in_part: bool = Field(
        description="Another model than the chosen one answered, and read only the chat's newest"
        " part."
    )
    support: bool = Field(
        description="Of an answer: the prompt speaks of self-harm, or the answer was stopped for"
        " it. Show where to find help."
    )
    withheld: list[WithheldFileOut] = Field(
        description="Files that the model was not given for it, or not all of: they read like"
        " orders."
    )


class ContextSummaryOut(ResponseModel):
    """Read by the model in place of the messages down to one; no instruction to it."""

    id: UUID
    through_message_id: UUID = Field(description="The last message that it stands for.")
    text: str
    created_at: datetime


class ContextOut(ResponseModel):
    used: int = Field(description="About so many tokens, rather too many than too few.")
    limit: int = Field(description="What the model's window leaves beside an answer.")
    begins_with: str | None = Field(
        description="The first words that are read; null where nothing before them is left out."
    )
    summary: ContextSummaryOut | None = Field(
        description="Of the active branch; null while all of its messages are read themselves."
    )
    summarises: bool = Field(
        description="Whether the beginning is summarised by itself when the chat is full."
    )


class GenerationRefOut(ResponseModel):
    id: UUID
    message_id: UUID


class ChatAssistantOut(ResponseModel):
    id: UUID
    name: str


class ComparedAnswerOut(ResponseModel):
    id: UUID
    model: str
    status: str
    parts: list[dict[str, Any]]
    generation_id: UUID | None


class ComparisonOut(ResponseModel):
    prompt_id: UUID
    answers: list[ComparedAnswerOut] = Field(description="One of each model.")

    @classmethod
    def of(cls, answers: list[Message]) -> "ComparisonOut | None":
        if not answers:
            return None
        shown = [
            ComparedAnswerOut(
                id=one.pk,
                model=one.model,
                status=one.status,
                parts=one.content,
                generation_id=one.generation_id,
            )
            for one in answers
        ]
        return cls.model_validate({"prompt_id": answers[0].parent_id, "answers": shown})


class ConversationOut(ResponseModel):
    id: UUID
    title: str
    model: str
    pinned: bool
    archived: bool
    messages: list[MessageOut]
    has_more: bool
    active_message_id: UUID | None
    generation: GenerationRefOut | None
    comparison: ComparisonOut | None = Field(
        description="Answers that stand side by side: none of them is chosen yet."
    )
    instructions: str
    parameters: ChatParameters
    temporary: bool
    web_search: bool
    project_id: UUID | None = Field(description="Null: the default project.")
    assistant: ChatAssistantOut | None = Field(
        description="Null where there is none, or it is not shared with you any more."
    )


def conversation_out(branch: Branch) -> ConversationOut:
    conversation, running = branch.conversation, branch.generation
    return ConversationOut(
        id=conversation.id,
        title=conversation.title,
        model=conversation.model,
        pinned=conversation.pinned_at is not None,
        archived=conversation.archived_at is not None,
        messages=[branch_message_out(item) for item in branch.messages],
        has_more=branch.has_more,
        comparison=ComparisonOut.of(branch.compared),
        active_message_id=conversation.active_message_id,
        project_id=conversation.project_id,
        instructions=conversation.instructions,
        assistant=(ChatAssistantOut.model_validate(branch.assistant) if branch.assistant else None),
        temporary=conversation.is_temporary,
        web_search=conversation.web_search,
        parameters=ChatParameters.model_validate(conversation.parameters),
        # Without an id the generation is not admitted yet, and there is nothing to follow.
        generation=(
            GenerationRefOut(id=running.id, message_id=running.message_id)
            if running is not None and running.id is not None
            else None
        ),
    )


def branch_message_out(item: BranchMessage) -> MessageOut:
    message: Message = item.message
    feedback: Feedback | None = item.feedback
    return MessageOut(
        id=message.id,
        parent_id=message.parent_id,
        role=message.role,
        content=message.text,
        parts=message.content,
        status=message.status,
        model=message.model or None,
        finish_reason=message.finish_reason or None,
        created_at=message.created_at,
        siblings=item.siblings,
        feedback=(
            FeedbackOut(rating=feedback.rating, comment=feedback.comment) if feedback else None
        ),
        generation_id=message.generation_id,
        has_documents=bool((message.sent or {}).get("documents")),
        memory=_memory_note(message),
        memories=[UsedMemoryOut(id=one, text=text) for one, text in item.memories.items()],
        from_outage=bool((message.sent or {}).get(FROM_OUTAGE)),
        read_in_part=bool((message.sent or {}).get(READ_IN_PART)),
        support=bool((message.sent or {}).get(SHOWS_SUPPORT)),
        withheld=[
            WithheldFileOut.model_validate(
                {
                    "attachment_id": one.attachment_id,
                    "filename": one.filename,
                    "in_part": one.is_in_part,
                }
            )
            for one in withheld_of(message)
        ],
    )


def _memory_note(message: Message) -> MemoryNoteOut | None:
    noted = message.memory or {}
    if noted.get("state") not in ("proposed", "saved", "dismissed"):
        return None
    return MemoryNoteOut.model_validate(noted)
