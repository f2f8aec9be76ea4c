"""Promise 4: nothing crosses from one organization, or one colleague, to another.

Every function that takes a principal and an id is called with somebody else's principal. A
function that is added to the modules below and not to CALLS fails the last test.
"""

import importlib
import inspect

import pytest
from django.db import transaction

from backend.accounts.models import Organization, Role
from backend.conversations import (
    assistant_access,
    assistants,
    attachments,
    copies,
    exports,
    feedback,
    imports,
    instructions,
    memories,
    purge,
    search,
    selectors,
    services,
    shared_files,
    shares,
    tags,
    turns,
)
from backend.conversations.assistant_models import Assistant
from backend.conversations.models import Conversation, Feedback, Memory, Message, Share
from backend.platform.errors import NotFound
from tests.conversations.message_trees import finished_turns, texts
from tests.conversations.test_attachments import upload
from tests.factories import MODEL, conversation_of, member

pytestmark = pytest.mark.django_db

NOTHING = inspect.Parameter("nothing", inspect.Parameter.POSITIONAL_ONLY)
PARTS = [{"type": "text", "text": "intruding"}]

# name -> the call, with the intruder's principal `p` and the victim's things `v`
CALLS = {
    "conversation_get": lambda p, v: selectors.conversation_get(
        principal=p, conversation_id=v.conversation.id
    ),
    "branch_get": lambda p, v: selectors.branch_get(principal=p, conversation_id=v.conversation.id),
    "message_get": lambda p, v: selectors.message_get(principal=p, message_id=v.answer.id),
    "conversation_update": lambda p, v: services.conversation_update(
        principal=p, conversation_id=v.conversation.id, title="intruding", pinned=True
    ),
    "conversation_delete": lambda p, v: services.conversation_delete(
        principal=p, conversation_id=v.conversation.id
    ),
    "conversation_restore": lambda p, v: services.conversation_restore(
        principal=p, conversation_id=v.conversation.id
    ),
    "turn_create": lambda p, v: turns.turn_create(
        principal=p, conversation_id=v.conversation.id, parts=PARTS, model=MODEL
    ),
    "turn_continue": lambda p, v: turns.turn_continue(principal=p, message_id=v.answer.id),
    "turn_regenerate": lambda p, v: turns.turn_regenerate(principal=p, message_id=v.answer.id),
    "sent_prompt_get": lambda p, v: instructions.sent_prompt_get(
        principal=p, message_id=v.answer.id
    ),
    "conversation_end": lambda p, v: purge.conversation_end(
        principal=p, conversation_id=v.conversation.id
    ),
    "conversation_export": lambda p, v: exports.conversation_export(
        principal=p, conversation_id=v.conversation.id
    ),
    "conversation_markdown": lambda p, v: exports.conversation_markdown(
        principal=p, conversation_id=v.conversation.id
    ),
    "feedback_set": lambda p, v: feedback.feedback_set(
        principal=p, message_id=v.answer.id, rating=-1
    ),
    "assistant_get": lambda p, v: assistant_access.assistant_get(
        principal=p, assistant_id=v.assistant.id
    ),
    "assistant_update": lambda p, v: assistants.assistant_update(
        principal=p,
        assistant_id=v.assistant.id,
        change=assistants.AssistantChange(name="intruding"),
    ),
    "assistant_delete": lambda p, v: assistants.assistant_delete(
        principal=p, assistant_id=v.assistant.id
    ),
    "assistant_duplicate": lambda p, v: assistants.assistant_duplicate(
        principal=p, assistant_id=v.assistant.id
    ),
    "assistant_files": lambda p, v: shared_files.assistant_files(
        principal=p, assistant_id=v.assistant.id
    ),
    "assistant_file_add": lambda p, v: shared_files.assistant_file_add(
        principal=p, assistant_id=v.assistant.id, attachment_id=upload(p, b"intruding").id
    ),
    "assistant_file_remove": lambda p, v: shared_files.assistant_file_remove(
        principal=p, assistant_id=v.assistant.id, attachment_id=v.assistant_file.id
    ),
    "attachment_get": lambda p, v: attachments.attachment_get(
        principal=p, attachment_id=v.attachment.id
    ),
    "memory_update": lambda p, v: memories.memory_update(
        principal=p, memory_id=v.memory.id, text="intruding"
    ),
    "memory_forget": lambda p, v: memories.memory_forget(principal=p, memory_id=v.memory.id),
    "proposal_save": lambda p, v: memories.proposal_save(
        principal=p, message_id=v.prompt.id, text="intruding"
    ),
    "proposal_dismiss": lambda p, v: memories.proposal_dismiss(principal=p, message_id=v.prompt.id),
    "share_create": lambda p, v: shares.share_create(
        principal=p, conversation_id=v.conversation.id
    ),
    "share_revoke": lambda p, v: shares.share_revoke(principal=p, share_id=v.share.id),
    "shares_list": lambda p, v: shares.shares_list(principal=p, conversation_id=v.conversation.id),
}

ENDS = {"assistant_delete", "conversation_delete", "conversation_end", "share_revoke"}
"""After these there is nothing left for the others."""

# They take no id: what they find or make is the caller's own.
WITHOUT_ID = {
    "assistant_create",
    "assistants_page",  # tests/api/test_assistants.py
    "chat_defaults_get",
    # An organization's owners manage its projects: tests/api/test_project_files.py.
    "project_file_add",
    "project_file_remove",
    "project_files",
    "conversations_change",  # test_at_hand.py tries it with foreign ids
    "conversations_import",
    "exportable_ids",
    "chat_defaults_set",
    "conversations_list",
    "conversations_search",
    "tags_list",  # test_tags.py
    "trash_erase",  # test_trash_erased.py
    "share_copy",  # a link is for anyone: test_copies.py
    "conversation_create",
    "attachment_create",
    "shares_page",
    "sharing_set",
    "memory_create",
    "memories_list",
    "memories_forget",
    "memory_switch",
    "memory_policy_set",
}


class Victim:
    def __init__(self):
        self.principal = member()
        self.conversation = finished_turns(self.principal, 2, title="private kangaroo")
        assert self.conversation.active_message is not None
        self.answer = self.conversation.active_message
        self.answer.sent = {"instructions": "", "parameters": {}, "tokens": 1000}
        self.answer.finish_reason = "length"
        self.answer.save(update_fields=["sent", "finish_reason"])
        assert self.answer.parent is not None
        self.prompt = self.answer.parent
        self.prompt.memory = {"state": "proposed", "text": "private", "memory_id": None}
        self.prompt.save(update_fields=["memory"])
        self.memory = memories.memory_create(principal=self.principal, text="private")
        self.assistant = assistants.assistant_create(
            principal=self.principal, change=assistants.AssistantChange(name="private kangaroo")
        )
        self.attachment = upload(self.principal, b"private")
        self.assistant_file = shared_files.assistant_file_add(
            principal=self.principal,
            assistant_id=self.assistant.id,
            attachment_id=upload(self.principal, b"private kangaroo").id,
        )
        self.share, self.token = shares.share_create(
            principal=self.principal, conversation_id=self.conversation.id
        )

    def rows(self):
        """Everything that an intruder could have changed."""
        return (
            list(Conversation.objects.filter(pk=self.conversation.pk).values()),
            texts(self.conversation),
            list(Assistant.objects.values()),
            list(self.assistant.files.values()),
            list(Share.objects.values()),
            list(Feedback.objects.values()),
            list(Memory.objects.values()),
            list(Message.objects.filter(pk=self.prompt.pk).values("memory")),
            Message.objects.count(),
        )


@pytest.fixture
def victim():
    return Victim()


@pytest.fixture(params=["another organization's owner", "a colleague", "its owner", "both"])
def intruder(request, victim):
    organization = Organization.objects.get(pk=victim.principal.organization_id)
    match request.param:
        case "a colleague":
            return member(organization=organization, role=Role.MEMBER)
        case "its owner":
            return member(organization=organization, role=Role.OWNER)
        case "both":  # the victim, in another organization of theirs
            elsewhere = member()
            return type(elsewhere)(
                organization_id=elsewhere.organization_id,
                project_id=elsewhere.project_id,
                user_id=victim.principal.user_id,
                key_id=None,
                role=Role.OWNER,
                plan=elsewhere.plan,
            )
    return member()


def test_ids_of_another_tenant_find_and_change_nothing(request, victim, intruder):
    before = victim.rows()
    for name in sorted(CALLS):
        if name == "share_revoke" and "its owner" in request.node.name:
            continue  # an owner may end the links of the organization: test_shares.py
        with pytest.raises(NotFound), transaction.atomic():
            CALLS[name](intruder, victim)
            pytest.fail(f"{name} found what is another tenant's")
        assert victim.rows() == before, name


def test_list_and_search_show_own_conversations_only(victim, intruder):
    mine = conversation_of(intruder, title="my kangaroo")

    for words in ("", "kangaroo", "prompt 0", str(victim.conversation.id)):
        listed = selectors.conversations_list(principal=intruder, search=words).items
        assert {item.id for item in listed} <= {mine.id}
        if words:
            found = search.conversations_search(principal=intruder, query=words)
            assert {one.conversation.id for one in found} <= {mine.id}


def test_foreign_cursor_lists_own_conversations_only(victim, intruder):
    for _ in range(2):
        conversation_of(victim.principal)
    cursor = selectors.conversations_list(principal=victim.principal, limit=1).next_cursor
    assert cursor is not None

    assert selectors.conversations_list(principal=intruder, cursor=cursor).items == []


def test_foreign_message_is_refused_as_parent_and_branch(victim, intruder):
    own = conversation_of(intruder)

    with pytest.raises(NotFound):
        turns.turn_create(
            principal=intruder,
            conversation_id=own.id,
            parts=PARTS,
            model=MODEL,
            parent_id=victim.answer.id,
        )
    with pytest.raises(NotFound):
        services.conversation_update(
            principal=intruder, conversation_id=own.id, active_message_id=victim.answer.id
        )
    with pytest.raises(NotFound):
        selectors.branch_get(principal=intruder, conversation_id=own.id, before=victim.answer.id)


def test_owner_finds_everything(victim):
    for name in CALLS:
        if name not in ENDS:
            CALLS[name](victim.principal, victim)


def test_every_function_that_takes_a_principal_is_tried_above():
    found = set()
    modules = (
        assistant_access,
        assistants,
        attachments,
        copies,
        exports,
        feedback,
        imports,
        instructions,
        memories,
        purge,
        search,
        selectors,
        services,
        shared_files,
        tags,
    )
    for module in (*modules, shares, turns):
        for name, function in inspect.getmembers(
            importlib.import_module(module.__name__), inspect.isfunction
        ):
            own = function.__module__ == module.__name__
            keywords = inspect.signature(function).parameters
            if (
                own
                and "principal" in keywords
                and keywords["principal"].kind.name == "KEYWORD_ONLY"
            ):
                found.add(name)
    assert found == set(CALLS) | WITHOUT_ID
