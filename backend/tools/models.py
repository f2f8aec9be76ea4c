"""Tables of `tools`.

Invariants, held by constraints and by the only writers (servers.py, rounds.py, approvals.py):
- a tool is offered only as it was when a manager allowed it: another definition has another
  fingerprint, and is reviewed anew; one that is held is allowed only by its fingerprint;
- a call that changes something is sent at most once: it is `running` before it is sent, and one
  that is found `running` by another process has failed;
- a call that a page makes is one page's at a time: who ends it names the run;
- a round leads to one next turn at most.
"""

import uuid

from django.db import models
from django.utils import timezone

from backend.accounts.models import Organization, User
from backend.conversations.assistant_models import Assistant
from backend.conversations.models import Conversation, Message
from backend.tools.oauth_models import OAuthClient, ToolConnection

__all__ = ["OAuthClient", "ToolConnection"]  # Django finds a table where its app's models are


class ServerKind(models.TextChoices):
    MCP = "mcp", "MCP"
    SEARXNG = "searxng", "SearXNG"
    BRAVE = "brave", "Brave Search"
    TAVILY = "tavily", "Tavily"
    PYTHON = "python", "Python"


WEB_KINDS = (ServerKind.SEARXNG, ServerKind.BRAVE, ServerKind.TAVILY)


class ServerAuth(models.TextChoices):
    """How a server is told who calls."""

    TOKEN = "token", "a bearer token of the organization, or none"
    PERSON = "oauth_person", "OAuth: each person signs in for themself"
    ORGANIZATION = "oauth_organization", "OAuth: a manager signs in for all"


class ToolServer(models.Model):
    """An MCP server of an organization; or its web search, of which there is one at most: a
    provider, and the product's own tools (web/); or its Python, one too, which people's pages
    run (python_tool.py)."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organization = models.ForeignKey(
        Organization, on_delete=models.CASCADE, related_name="tool_servers"
    )
    kind = models.CharField(
        max_length=16, choices=ServerKind.choices, default=ServerKind.MCP, db_default=ServerKind.MCP
    )
    name = models.CharField(max_length=60)
    url = models.CharField(max_length=1000)
    auth = models.CharField(
        max_length=20,
        choices=ServerAuth.choices,
        default=ServerAuth.TOKEN,
        db_default=ServerAuth.TOKEN,
    )
    encrypted_token = models.TextField(blank=True)
    is_enabled = models.BooleanField(default=True)
    has_answered = models.BooleanField(
        default=False,
        db_default=False,
        help_text="At its URL: the first answer switches it on.",
    )
    checked_at = models.DateTimeField(null=True, blank=True)
    error = models.CharField(max_length=300, blank=True, help_text="Of the last look at its tools.")
    error_code = models.CharField(
        max_length=40, blank=True, default="", db_default="", help_text="Of that error."
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "name"], name="tool_server_unique"),
            models.UniqueConstraint(
                fields=["organization"],
                condition=models.Q(kind__in=WEB_KINDS),
                name="tool_server_one_search",
            ),
            models.UniqueConstraint(
                fields=["organization"],
                condition=models.Q(kind=ServerKind.PYTHON),
                name="tool_server_one_python",
            ),
        ]

    def __str__(self) -> str:
        return f"Tool server {self.id}"

    @property
    def has_sign_in(self) -> bool:
        return self.auth != ServerAuth.TOKEN

    @property
    def is_web(self) -> bool:
        return self.kind in WEB_KINDS

    @property
    def is_python(self) -> bool:
        return self.kind == ServerKind.PYTHON


class Tool(models.Model):
    """A tool as its server described it. What the server claims of it is shown to managers, and
    spares no approval: `needs_approval` is off where one of them has said so."""

    server = models.ForeignKey(ToolServer, on_delete=models.CASCADE, related_name="tools")
    name = models.CharField(max_length=128)
    title = models.CharField(max_length=200, blank=True)
    description = models.TextField(blank=True)
    input_schema = models.JSONField(default=dict)
    claims_read_only = models.BooleanField(default=False)
    claims_destructive = models.BooleanField(default=False)
    fingerprint = models.CharField(max_length=64)
    orders = models.TextField(
        null=True, blank=True, help_text="What of it reads like orders; null: it was not read."
    )
    is_allowed = models.BooleanField(default=False)
    needs_approval = models.BooleanField(default=True)
    allowed_fingerprint = models.CharField(
        max_length=64, blank=True, default="", db_default="", help_text="As it was last allowed."
    )
    allowed_text = models.TextField(
        blank=True, default="", db_default="", help_text="What it said of itself then."
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["server", "name"], name="tool_unique")]

    def __str__(self) -> str:
        return f"{self.name} of {self.server_id}"

    @property
    def text(self) -> str:
        """What it says of itself."""
        return "\n".join(text for text in (self.title, self.description) if text)

    @property
    def held_for(self) -> list[str]:
        """Why it is not allowed before a manager has looked at this definition: it reads like
        `orders`, or it is `changed` since it was allowed."""
        if self.is_allowed:
            return []
        changed = self.allowed_fingerprint not in ("", self.fingerprint)
        looked_at = self.allowed_fingerprint == self.fingerprint
        suspect = bool(self.orders) and not looked_at
        return [*(["orders"] if suspect else []), *(["changed"] if changed else [])]


class ToolUse(models.Model):
    """A person has switched a server's tools on for their own chats."""

    server = models.ForeignKey(ToolServer, on_delete=models.CASCADE, related_name="uses")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="tool_uses")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["server", "user"], name="tool_use_unique")]

    def __str__(self) -> str:
        return f"{self.user_id} uses {self.server_id}"


class AssistantTools(models.Model):
    """An assistant names the tools that its chats use; without a row its person's own choice
    holds. Ids of tools that are gone lead to nothing, and no tool gets an id again."""

    assistant = models.OneToOneField(
        Assistant, on_delete=models.CASCADE, primary_key=True, related_name="named_tools"
    )
    tool_ids = models.JSONField(default=list)

    def __str__(self) -> str:
        return f"Tools of {self.assistant_id}"


class ToolGrant(models.Model):
    """A person lets a tool be called without asking: in one chat, or in all of theirs."""

    tool = models.ForeignKey(Tool, on_delete=models.CASCADE, related_name="grants")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="tool_grants")
    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, null=True, blank=True, related_name="tool_grants"
    )
    fingerprint = models.CharField(max_length=64, help_text="Of the tool that was granted.")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tool", "user", "conversation"],
                nulls_distinct=False,
                name="tool_grant_unique",
            )
        ]

    def __str__(self) -> str:
        return f"Grant {self.pk}"


class RoundState(models.TextChoices):
    ANSWERING = "answering", "the answer is being generated"
    CALLING = "calling", "calls are to be made"
    WAITING = "waiting", "for a person's approval"
    DONE = "done"
    CANCELLED = "cancelled", "its person stopped it"


class ToolRound(models.Model):
    """An answer that was offered tools, and what became of its calls."""

    message = models.OneToOneField(
        Message, on_delete=models.CASCADE, primary_key=True, related_name="tool_round"
    )
    number = models.PositiveSmallIntegerField(default=1)
    offered = models.JSONField(default=dict, help_text="Ids of tools by the names models read.")
    state = models.CharField(
        max_length=16, choices=RoundState.choices, default=RoundState.ANSWERING
    )
    claimed_until = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["state"],
                condition=models.Q(state__in=["answering", "calling"]),
                name="tool_round_open",
            )
        ]

    def __str__(self) -> str:
        return f"Round of {self.message_id}"


class CallStatus(models.TextChoices):
    WAITING = "waiting", "for approval"
    DUE = "due"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    DENIED = "denied"
    CANCELLED = "cancelled"


OPEN_CALLS = (CallStatus.WAITING, CallStatus.DUE, CallStatus.RUNNING)


class ToolCall(models.Model):
    """One call of an answer. Arguments and result are content, and go with their message."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    round = models.ForeignKey(ToolRound, on_delete=models.CASCADE, related_name="calls")
    place = models.PositiveSmallIntegerField()
    call_id = models.CharField(max_length=64)
    tool = models.ForeignKey(Tool, on_delete=models.SET_NULL, null=True, related_name="+")
    server_name = models.CharField(max_length=60, blank=True)
    tool_name = models.CharField(max_length=128)
    fingerprint = models.CharField(max_length=64, blank=True, help_text="Of the offered tool.")
    arguments = models.TextField()
    status = models.CharField(max_length=16, choices=CallStatus.choices)
    result = models.TextField(blank=True)
    is_withheld = models.BooleanField(
        default=False,
        db_default=False,
        help_text="The model is not given the result: it reads like orders.",
    )
    is_withheld_in_part = models.BooleanField(
        default=False, db_default=False, help_text="It is given the rest of the result."
    )
    sources = models.JSONField(
        default=list, db_default=[], help_text="Of the web: title and https URL of each page."
    )
    decision = models.CharField(
        max_length=16, blank=True, help_text="`policy`, `granted`, or what a person chose."
    )
    decided_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    run_id = models.UUIDField(null=True, blank=True, help_text="Of the page that runs it.")
    run_until = models.DateTimeField(
        null=True, blank=True, help_text="When a page that says nothing is given up."
    )
    runs = models.PositiveSmallIntegerField(
        default=0, db_default=0, help_text="By pages and processes."
    )
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["round", "place"], name="tool_call_place_unique")
        ]

    def __str__(self) -> str:
        return f"Tool call {self.id}"

    @property
    def is_of_page(self) -> bool:
        """Whether a page of its person makes it."""
        return self.tool is not None and self.tool.server.is_python
