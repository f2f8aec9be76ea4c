"""Which tools a turn offers: those of its assistant, or those that its person switched on."""

import pytest

from backend.accounts.principal import Principal
from backend.conversations.assistants import AssistantChange, assistant_update
from backend.conversations.models import Conversation
from backend.platform.errors import InvalidRequest
from backend.tools.assistants import (
    Naming,
    ToolName,
    assistant_create_with_tools,
    assistant_duplicate_with_tools,
    assistant_update_with_tools,
    tools_named,
)
from backend.tools.catalog import server_use, tools_for
from backend.tools.models import ServerAuth, Tool
from backend.tools.oauth_models import ConnectionState, ToolConnection
from tests.conversations.test_tool_rounds import tool_of
from tests.factories import conversation_of, member

pytestmark = pytest.mark.django_db
PIRATE = AssistantChange(name="Pirate")


@pytest.fixture
def principal() -> Principal:
    return member()


def name_of(tool: Tool) -> ToolName:
    return ToolName(tool.server_id, tool.name)


def chat_with(principal: Principal, naming: Naming | None) -> Conversation:
    assistant = assistant_create_with_tools(principal=principal, change=PIRATE, naming=naming)
    conversation = conversation_of(principal)
    conversation.assistant = assistant
    conversation.save()
    return conversation


def test_named_tools_are_offered_without_being_switched_on(principal: Principal) -> None:
    tool = tool_of(principal)
    chat = chat_with(principal, Naming([name_of(tool)]))
    assert tools_for(principal, chat) == [tool]
    assert tools_for(principal, conversation_of(principal)) == []


def test_assistant_that_names_none_offers_none_or_the_persons_own(principal: Principal) -> None:
    tool = tool_of(principal)
    server_use(principal=principal, server_id=tool.server_id, is_on=True)
    assert tools_for(principal, chat_with(principal, Naming([]))) == []
    assert tools_for(principal, chat_with(principal, Naming(None))) == [tool]
    assert tools_for(principal, chat_with(principal, None)) == [tool]


def test_tool_that_is_not_allowed_any_more_is_not_offered(principal: Principal) -> None:
    tool = tool_of(principal)
    chat = chat_with(principal, Naming([name_of(tool)]))
    Tool.objects.filter(pk=tool.pk).update(is_allowed=False)
    assert tools_for(principal, chat) == []
    assert chat.assistant_id is not None
    assert tools_named(principal, [chat.assistant_id]) == {chat.assistant_id: []}
    with pytest.raises(InvalidRequest, match="no tool 'book'"):
        chat_with(principal, Naming([name_of(tool)]))


def test_tool_of_another_organization_cannot_be_named(principal: Principal) -> None:
    other = member()
    with pytest.raises(InvalidRequest, match="no tool"):
        chat_with(principal, Naming([name_of(tool_of(other))]))


def test_change_and_copy_of_an_assistant_keep_its_tools(principal: Principal) -> None:
    tool = tool_of(principal)
    chat = chat_with(principal, Naming([name_of(tool)]))
    assert chat.assistant_id is not None
    assistant_update_with_tools(
        principal=principal, assistant_id=chat.assistant_id, change=PIRATE, naming=None
    )
    copy = assistant_duplicate_with_tools(principal=principal, assistant_id=chat.assistant_id)
    assert tools_named(principal, [chat.assistant_id, copy.pk]) == {
        chat.assistant_id: [tool],
        copy.pk: [tool],
    }


def test_assistant_that_is_not_shared_any_more_names_nothing(principal: Principal) -> None:
    tool = tool_of(principal)
    chat = chat_with(principal, Naming([name_of(tool)]))
    assert chat.assistant_id is not None
    assistant_update(
        principal=principal, assistant_id=chat.assistant_id, change=AssistantChange(seen_by=[])
    )
    colleague = member()
    assert tools_for(colleague, chat) == []


def test_tool_whose_server_one_has_not_signed_in_at_is_not_offered(principal: Principal) -> None:
    tool = tool_of(principal)
    tool.server.auth = ServerAuth.PERSON
    tool.server.save()
    chat = chat_with(principal, Naming([name_of(tool)]))
    assert tools_for(principal, chat) == []
    connection = ToolConnection.objects.create(
        server=tool.server,
        organization_id=principal.organization_id,
        user_id=principal.user_id,
        state=ConnectionState.CONNECTED,
    )
    assert tools_for(principal, chat) == [tool]
    connection.state = ConnectionState.EXPIRED
    connection.save()
    assert tools_for(principal, chat) == []
