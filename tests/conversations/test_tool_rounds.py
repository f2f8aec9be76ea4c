"""What becomes of calls whose process was lost, and of calls that nobody may make any more."""

from datetime import timedelta

import pytest
from django.utils import timezone

from backend.accounts.principal import Principal
from backend.api import tool_rounds
from backend.conversations.models import Message, MessageRole, MessageStatus
from backend.platform.database import in_database
from backend.platform.errors import NotFound
from backend.tools.catalog import offered_name
from backend.tools.models import CallStatus, RoundState, Tool, ToolCall, ToolRound, ToolServer
from backend.tools.rounds import (
    LEASE,
    MAX_CALLS,
    MAX_TRIES,
    Step,
    call_finish,
    round_go_on,
    round_open,
    round_step,
    rounds_claim,
)
from backend.tools.stopping import round_stop, rounds_stopped
from backend.tools.types import SERVER_ERROR, Made
from tests.factories import conversation_of, member

pytestmark = pytest.mark.django_db


@pytest.fixture
def principal() -> Principal:
    return member()


def tool_of(principal: Principal, *, needs_approval: bool = False, only_reads: bool = True) -> Tool:
    server = ToolServer.objects.create(
        organization_id=principal.organization_id, name="Trips", url="https://example.org/mcp"
    )
    return Tool.objects.create(
        server=server,
        name="book",
        input_schema={"type": "object"},
        fingerprint="f",
        is_allowed=True,
        needs_approval=needs_approval,
        claims_read_only=only_reads,
    )


def answer_that_calls(principal: Principal, tool: Tool, *, calls: int = 1) -> Message:
    conversation = conversation_of(principal)
    prompt = Message.objects.create(
        conversation=conversation,
        role=MessageRole.USER,
        content=[{"type": "text", "text": "Book it."}],
        text="Book it.",
    )
    part = {"type": "call", "name": offered_name(tool), "arguments": "{}"}
    answer = Message.objects.create(
        conversation=conversation,
        parent=prompt,
        role=MessageRole.ASSISTANT,
        status=MessageStatus.COMPLETED,
        text="book {}",
        content=[{**part, "call_id": f"call_{number}"} for number in range(calls)],
    )
    conversation.active_message = answer
    conversation.save()
    round_open(message_id=answer.pk, tools=[tool])
    return answer


def lapse(answer: Message) -> None:
    ToolRound.objects.filter(pk=answer.pk).update(
        claimed_until=timezone.now() - timedelta(seconds=1)
    )


def test_call_that_ends_its_processes_is_not_made_for_ever(principal: Principal) -> None:
    answer = answer_that_calls(principal, tool_of(principal))
    for _ in range(MAX_TRIES):
        assert rounds_claim(limit=1) == [answer.pk]
        assert len(round_step(message_id=answer.pk).due) == 1
        lapse(answer)
    assert rounds_claim(limit=1) == [answer.pk]
    assert round_step(message_id=answer.pk) == Step([], goes_on=True)
    assert ToolCall.objects.get().status == CallStatus.FAILED


async def test_call_that_fails_unforeseen_is_a_failed_call(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened() -> tuple[Message, Step]:
        principal = member()
        answer = answer_that_calls(principal, tool_of(principal))
        return answer, round_step(message_id=answer.pk)

    async def broken(*_: object) -> str:
        raise AssertionError("no library is meant to do this")

    answer, step = await in_database(opened)
    monkeypatch.setattr(tool_rounds, "tool_call", broken)
    await tool_rounds.call_make(step.due[0])
    row = await in_database(ToolCall.objects.get, round_id=answer.pk)
    assert (row.status, row.result) == (CallStatus.FAILED, SERVER_ERROR)


def test_round_is_claimed_by_one_process_until_its_lease_lapses(principal: Principal) -> None:
    answer = answer_that_calls(principal, tool_of(principal))
    assert answer.pk in rounds_claim(limit=100)
    assert answer.pk not in rounds_claim(limit=100)
    claimed = ToolRound.objects.get(pk=answer.pk).claimed_until
    assert claimed is not None
    assert claimed <= timezone.now() + LEASE
    lapse(answer)
    assert answer.pk in rounds_claim(limit=100)


def test_reading_call_of_a_lost_process_is_made_again(principal: Principal) -> None:
    answer = answer_that_calls(principal, tool_of(principal))
    [first] = round_step(message_id=answer.pk).due
    [again] = round_step(message_id=answer.pk).due
    assert again.id == first.id
    call_finish(call_id=first.id, made=Made("booked"))
    call_finish(call_id=again.id, made=Made("another"))
    assert ToolCall.objects.get(pk=first.id).result == "booked"


def test_call_that_may_change_something_is_not_made_again_whatever_was_asked(
    principal: Principal,
) -> None:
    answer = answer_that_calls(principal, tool_of(principal, only_reads=False))
    [first] = round_step(message_id=answer.pk).due
    step = round_step(message_id=answer.pk)
    assert (step.due, step.goes_on) == ([], True)
    assert "not known" in ToolCall.objects.get(pk=first.id).result


def test_stopped_round_goes_on_with_nothing(principal: Principal) -> None:
    tool = tool_of(principal)
    answer = answer_that_calls(principal, tool)
    [due] = round_step(message_id=answer.pk).due
    assert round_stop(principal=principal, conversation_id=answer.conversation_id)
    assert not round_stop(principal=principal, conversation_id=answer.conversation_id)
    assert rounds_stopped([answer.pk]) == [answer.pk]
    call_finish(call_id=due.id, made=Made("too late"))
    assert ToolCall.objects.get(pk=due.id).status == CallStatus.CANCELLED
    assert round_step(message_id=answer.pk) == Step([])
    assert round_go_on(message_id=answer.pk, tools=[tool], room_for=lambda model: 10_000) is None
    assert ToolRound.objects.get(pk=answer.pk).state == RoundState.CANCELLED
    answer.refresh_from_db()
    assert (answer.status, answer.text) == (MessageStatus.COMPLETED, "book {}")
    outsider = member()
    with pytest.raises(NotFound):
        round_stop(principal=outsider, conversation_id=answer.conversation_id)


def test_approved_call_of_a_lost_process_is_not_made_again(principal: Principal) -> None:
    answer = answer_that_calls(principal, tool_of(principal, needs_approval=True))
    assert round_step(message_id=answer.pk).due == []
    call = ToolCall.objects.get(round_id=answer.pk)
    assert call.status == CallStatus.WAITING
    ToolCall.objects.filter(pk=call.pk).update(status=CallStatus.RUNNING, decision="once")
    step = round_step(message_id=answer.pk)
    assert (step.due, step.goes_on) == ([], True)
    call.refresh_from_db()
    assert call.status == CallStatus.FAILED
    assert "not known" in call.result


def test_round_leads_to_one_next_turn(principal: Principal) -> None:
    tool = tool_of(principal)
    answer = answer_that_calls(principal, tool)
    [due] = round_step(message_id=answer.pk).due
    call_finish(call_id=due.id, made=Made("booked"))
    going = round_go_on(message_id=answer.pk, tools=[tool], room_for=lambda model: 10_000)
    assert going is not None
    turn, _ = going
    assert [message.role for message in turn.history] == ["user", "assistant", "tool"]
    assert ToolRound.objects.get(pk=turn.assistant_message.pk).number == 2
    assert round_go_on(message_id=answer.pk, tools=[tool], room_for=lambda model: 10_000) is None


def test_result_stays_with_its_prompt_where_there_is_no_room(principal: Principal) -> None:
    tool = tool_of(principal)
    answer = answer_that_calls(principal, tool)
    [due] = round_step(message_id=answer.pk).due
    call_finish(call_id=due.id, made=Made("booked " * 100))
    going = round_go_on(message_id=answer.pk, tools=[tool], room_for=lambda model: 100)
    assert going is not None
    assert [message.role for message in going[0].history] == ["user", "assistant", "tool"]


def test_call_is_not_made_when_its_tool_was_switched_off_meanwhile(principal: Principal) -> None:
    tool = tool_of(principal)
    answer = answer_that_calls(principal, tool)
    Tool.objects.filter(pk=tool.pk).update(is_allowed=False)
    assert round_step(message_id=answer.pk).due == []
    assert ToolCall.objects.get(round_id=answer.pk).status == CallStatus.FAILED


def test_calls_above_the_bound_fail(principal: Principal) -> None:
    answer = answer_that_calls(principal, tool_of(principal), calls=MAX_CALLS + 2)
    assert len(round_step(message_id=answer.pk).due) == MAX_CALLS
    failed = ToolCall.objects.filter(round_id=answer.pk, status=CallStatus.FAILED)
    assert failed.count() == 2


def test_round_ends_when_its_chat_goes_on_otherwise(principal: Principal) -> None:
    answer = answer_that_calls(principal, tool_of(principal, needs_approval=True))
    round_step(message_id=answer.pk)
    conversation = answer.conversation
    conversation.active_message = answer.parent
    conversation.save()
    ToolRound.objects.filter(pk=answer.pk).update(state=RoundState.CALLING)
    assert round_step(message_id=answer.pk).due == []
    assert ToolRound.objects.get(pk=answer.pk).state == RoundState.DONE
    assert ToolCall.objects.get(round_id=answer.pk).status == CallStatus.DENIED
