"""Tables of `conversations`. A conversation is a tree of messages with one active leaf.

Invariants, held by constraints or by services.py, the only writer:
- a message's parent is in the same conversation, and user and assistant take turns on every
  path from a root to a leaf;
- `active_message` is in the conversation; the path from a root to it is what the page shows;
- a message leaves the status `pending` once and never comes back;
- an attachment belongs to at most one conversation, and goes when that is purged, or to one
  project or assistant, all of whose chats read it.
"""

import uuid
from datetime import timedelta
from typing import ClassVar

from django.conf import settings
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.contrib.postgres.search import SearchVector, SearchVectorField
from django.db import models
from django.db.models.functions import Now, Upper
from django.utils import timezone

from backend.accounts.models import Organization, Project
from backend.conversations.assistant_models import Assistant
from backend.conversations.memory_models import Memory, MemoryPolicy, MemorySettings

__all__ = [
    "Attachment",
    "AttachmentKind",
    "ChatDefaults",
    "ContentAccess",
    "Conversation",
    "ConversationSummary",
    "Feedback",
    "Memory",
    "MemoryPolicy",
    "MemorySettings",
    "Message",
    "MessageRole",
    "MessageStatus",
    "Share",
    "SharingPolicy",
]


class Conversation(models.Model):
    """One thread of one user. Deleting sets `deleted_at`; tasks.purge_deleted ends it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organization = models.ForeignKey(
        Organization, on_delete=models.CASCADE, related_name="conversations"
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="conversations"
    )
    project = models.ForeignKey(
        Project,
        on_delete=models.SET_NULL,
        null=True,
        related_name="conversations",
        help_text="Whose limits, budget, models and retention hold. Empty: the default one.",
    )
    assistant = models.ForeignKey(
        Assistant,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="conversations",
        help_text="Whose instructions the model reads, while its user sees it.",
    )
    title = models.CharField(max_length=200, blank=True)
    title_is_manual = models.BooleanField(
        default=False, help_text="The user named it; automatic titles leave it alone."
    )
    model = models.CharField(max_length=100, help_text="The model that the next turn asks for.")
    active_message = models.ForeignKey(
        "Message", on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    compared_prompt_id = models.UUIDField(
        null=True, blank=True, help_text="Whose answers stand side by side until one is chosen."
    )
    metadata = models.JSONField(
        default=dict, db_default={}, help_text="What a program has noted: texts by name."
    )
    instructions = models.TextField(
        blank=True, db_default="", help_text="What the model reads before the messages."
    )
    parameters = models.JSONField(
        default=dict, db_default={}, help_text="Sampling parameters by their upstream names."
    )
    is_temporary = models.BooleanField(
        default=False, db_default=False, help_text="In no list, and erased when it ends."
    )
    web_search = models.BooleanField(
        default=False, db_default=False, help_text="The model is offered the web."
    )
    summarises = models.BooleanField(
        default=True,
        db_default=True,
        help_text="Its beginning is summarised when it does not fit any more.",
    )
    tags = models.JSONField(
        default=list, db_default=[], blank=True, help_text="The user's own words for it."
    )
    imported_id = models.CharField(
        max_length=64, blank=True, db_default="", help_text="Hash of its id where it came from."
    )
    pinned_at = models.DateTimeField(null=True, blank=True)
    archived_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(
        default=timezone.now, help_text="The last turn; renaming or pinning does not count."
    )
    deleted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["organization", "user", "-updated_at", "-id"],
                condition=models.Q(deleted_at__isnull=True),
                name="conversation_list",
            ),
            models.Index(
                fields=["deleted_at"],
                condition=models.Q(deleted_at__isnull=False),
                name="conversation_purge",
            ),
            models.Index(fields=["project", "updated_at"], name="conversation_by_project"),
            models.Index(
                fields=["organization", "updated_at"], name="conversation_by_organization"
            ),
            models.Index(
                fields=["updated_at"],
                condition=models.Q(is_temporary=True),
                name="conversation_temporary",
            ),
            GinIndex(OpClass(Upper("title"), name="gin_trgm_ops"), name="conversation_title_trgm"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["organization", "user", "imported_id"],
                condition=~models.Q(imported_id=""),
                name="conversation_imported_once",
            )
        ]
        permissions = [("view_content", "Can read what users and models wrote")]

    def __str__(self) -> str:
        return f"Conversation {self.id}"  # never the title: it is content


class ChatDefaults(models.Model):
    """What a person wants of every chat in an organization; without a row, nothing special."""

    organization = models.ForeignKey(
        Organization, on_delete=models.CASCADE, related_name="chat_defaults"
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="chat_defaults"
    )
    about = models.TextField(blank=True, help_text="What they say about themselves.")
    style = models.TextField(blank=True, help_text="How they want to be answered.")
    parameters = models.JSONField(default=dict, help_text="What a new chat begins with.")
    summarises = models.BooleanField(
        default=False, db_default=False, help_text="The beginning of long chats is summarised."
    )

    class Meta:
        verbose_name_plural = "chat defaults"
        constraints = [
            models.UniqueConstraint(fields=["organization", "user"], name="chat_defaults_unique")
        ]

    def __str__(self) -> str:
        return f"Chat defaults {self.pk}"


class MessageRole(models.TextChoices):
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


class MessageStatus(models.TextChoices):
    PENDING = "pending", "being generated"
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    BLOCKED = "blocked"
    FAILED = "failed"


class Message(models.Model):
    """One node of the tree. `text` repeats the text parts of `content`, for search."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="messages"
    )
    parent = models.ForeignKey(
        "self", on_delete=models.CASCADE, null=True, blank=True, related_name="children"
    )
    role = models.CharField(max_length=16, choices=MessageRole.choices)
    content = models.JSONField(
        default=list, help_text='Parts: {"type": "text", "text"} or {"type", "attachment_id"}.'
    )
    text = models.TextField(blank=True)
    status = models.CharField(
        max_length=16, choices=MessageStatus.choices, default=MessageStatus.COMPLETED
    )
    model = models.CharField(max_length=100, blank=True)
    generation_id = models.UUIDField(null=True, blank=True)
    finish_reason = models.CharField(max_length=32, blank=True)
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    sent = models.JSONField(
        null=True, blank=True, help_text="Of an answer: what makes out the prompt that was sent."
    )
    memory = models.JSONField(
        null=True,
        blank=True,
        help_text="Of a prompt: what became of its words in memory (memory_proposals.py).",
    )
    claimed_until = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="Of a pending answer: until when the process lives that is to begin it.",
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        indexes = [
            models.Index(fields=["conversation", "parent", "created_at"], name="message_siblings"),
            models.Index(
                fields=["claimed_until"],
                condition=models.Q(status="pending", generation_id=None),
                name="message_unbegun",
            ),
            models.Index(
                fields=["conversation"],
                condition=models.Q(status="pending"),
                name="message_pending",
            ),
            GinIndex(OpClass(Upper("text"), name="gin_trgm_ops"), name="message_text_trgm"),
        ]

    def __str__(self) -> str:
        return f"Message {self.id} ({self.role})"


class ConversationSummary(models.Model):
    """What a model reads in place of the messages down to `through`, on every branch below it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="summaries"
    )
    through = models.OneToOneField(
        Message, on_delete=models.CASCADE, related_name="+", help_text="The last one it covers."
    )
    text = models.TextField()
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name_plural = "conversation summaries"

    def __str__(self) -> str:
        return f"Summary {self.id}"  # never the text: it is content


class AttachmentKind(models.TextChoices):
    IMAGE = "image"
    TEXT = "text"
    DOCUMENT = "document", "PDF, Word, Excel or PowerPoint"


class Attachment(models.Model):
    """An uploaded file, already checked; stored under a random name.

    Images and text are written anew. A document lies there as it came, and is only handed back;
    what is read of it are its passages.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organization = models.ForeignKey(
        Organization, on_delete=models.CASCADE, related_name="attachments"
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="attachments"
    )
    conversation = models.ForeignKey(
        Conversation,
        # The files have to go first: purge.py deletes both, and nothing else may skip it.
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="attachments",
        help_text="Set when a message first uses it; empty ones are removed after a day.",
    )
    project = models.ForeignKey(
        Project,
        on_delete=models.SET_NULL,  # its file has to go first: the purge of unused uploads does
        null=True,
        blank=True,
        related_name="files",
        help_text="All of whose chats read it.",
    )
    assistant = models.ForeignKey(
        Assistant,
        on_delete=models.SET_NULL,  # see `project`
        null=True,
        blank=True,
        related_name="files",
        help_text="All of whose chats read it.",
    )
    kind = models.CharField(max_length=8, choices=AttachmentKind.choices)
    filename = models.CharField(max_length=255, help_text="As the user named it; for display.")
    content_type = models.CharField(max_length=100)
    size = models.PositiveIntegerField(help_text="Bytes as stored.")
    file = models.FileField(max_length=200)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(conversation=None, project=None)
                | models.Q(conversation=None, assistant=None)
                | models.Q(project=None, assistant=None),
                name="attachment_of_one_place",
            )
        ]

    def __str__(self) -> str:
        return f"Attachment {self.id} ({self.content_type})"


class Passage(models.Model):
    """A stretch of an attached document or long text: all of them, in order, are its text; some
    begin with headings or a table's header once more.

    `embedding` holds float16 values of length one, as `embedding_model` made them; null where no
    model has yet.
    """

    attachment = models.ForeignKey(Attachment, on_delete=models.CASCADE, related_name="passages")
    position = models.PositiveIntegerField()
    place = models.CharField(max_length=200, blank=True, help_text='As cited: "page 3".')
    text = models.TextField()
    search = models.GeneratedField(
        expression=SearchVector("text", config="english"),
        output_field=SearchVectorField(),
        db_persist=True,
    )
    embedding = models.BinaryField(null=True)
    embedding_model = models.CharField(max_length=100, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["attachment", "position"], name="passage_unique")
        ]

    def __str__(self) -> str:
        return f"Passage {self.position} of {self.attachment_id}"


class Feedback(models.Model):
    """A user's thumb on an answer."""

    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="feedback")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="feedback"
    )
    rating = models.SmallIntegerField(choices=[(1, "good"), (-1, "bad")])
    comment = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name_plural = "feedback"
        constraints = [
            models.UniqueConstraint(fields=["message", "user"], name="feedback_unique"),
            models.CheckConstraint(
                condition=models.Q(rating__in=[1, -1]), name="feedback_rating_is_a_thumb"
            ),
        ]

    def __str__(self) -> str:
        return f"{'+1' if self.rating > 0 else '-1'} on {self.message_id}"


class Share(models.Model):
    """A public link to a snapshot of one branch, until it expires or is revoked, and while its
    author belongs to the organization and that allows sharing. Only the token's hash is kept."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="shares")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="shares"
    )
    token_sha256 = models.CharField(max_length=64, unique=True)
    title = models.CharField(max_length=200)
    model = models.CharField(max_length=100)
    snapshot = models.JSONField(help_text="[{role, content, attachments, created_at}] as shared.")
    created_at = models.DateTimeField(auto_now_add=True)
    # The default is for links of the release before: 30 days from the migration.
    expires_at = models.DateTimeField(
        db_default=models.ExpressionWrapper(
            Now() + timedelta(days=30), output_field=models.DateTimeField()
        )
    )
    revoked_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"Share {self.id}"


class SharingPolicy(models.Model):
    """Whether an organization's members may share conversations; without a row they may."""

    organization = models.OneToOneField(
        Organization, on_delete=models.CASCADE, primary_key=True, related_name="sharing_policy"
    )
    is_allowed = models.BooleanField()
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name_plural = "sharing policies"

    def __str__(self) -> str:
        return f"{self.organization}: {'shared' if self.is_allowed else 'not shared'}"


class ContentAccess(models.Model):
    """A member of staff read content: who, when, why. Append-only, held by a trigger.

    Ids of the content and not foreign keys, so that the entry outlives what was read.
    """

    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="content_accesses"
    )
    organization_id = models.UUIDField()
    conversation_id = models.UUIDField(db_index=True)
    reason = models.TextField()
    request_id = models.CharField(max_length=100, blank=True)
    accessed_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "content accesses"
        ordering: ClassVar[list[str]] = ["-accessed_at"]

    def __str__(self) -> str:
        return f"{self.actor} read {self.conversation_id}"
