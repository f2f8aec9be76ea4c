"""Carries rounds of tool calls on, in a web process: makes calls, and answers with their results.

What is to be done stands in rows (`backend/tools/rounds.py`): a process that ends leaves its rounds
to another. Answers go on as generations of their own, which the page joins as after a reload.
"""

import asyncio
import time
from typing import Any
from uuid import UUID

import structlog

from backend.accounts.authentication import principal_for_session, principal_in_project
from backend.accounts.principal import Principal
from backend.api.documents import Asker, history_with_passages
from backend.api.turn_claims import turn_claimed
from backend.api.turns import finish_refused, merged_parameters, room_for_turn, tools_of
from backend.conversations.models import Conversation, Message
from backend.conversations.types import Turn
from backend.generation.gateway import Gateway
from backend.generation.request import GenerationRequest, TurnIds
from backend.generation.service import generation_start
from backend.generation.tools import Tools
from backend.platform.database import in_database
from backend.platform.errors import ParleyError
from backend.tools import rounds, stopping
from backend.tools.catalog import tools_for
from backend.tools.mcp_client import tool_call
from backend.tools.models import ServerKind
from backend.tools.python_tool import PYTHON_NAME
from backend.tools.types import SERVER_ERROR, Made, ToolFailed
from backend.tools.web.calls import web_call

log = structlog.get_logger(__name__)

AT_ONCE = 16
_LOOK_S = 0.5
_RENEW_S = 1.5
_LEAVE_S = 5.0


class ToolLoop:
    """One in each web process."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._running: dict[UUID, asyncio.Task[None]] = {}
        self._renewed = time.monotonic()

    async def run(self) -> None:
        """Until the process drains; what it was at, another goes on with."""
        try:
            while not self._gateway.active.draining:
                await self._look()
                await asyncio.sleep(_LOOK_S)
        finally:
            await self._leave()

    async def _look(self) -> None:
        if self._running:
            for message_id in await in_database(stopping.rounds_stopped, list(self._running)):
                self._running[message_id].cancel()
        if self._running and time.monotonic() - self._renewed > _RENEW_S:
            self._renewed = time.monotonic()
            await in_database(rounds.rounds_renew, list(self._running))
        room = AT_ONCE - len(self._running)
        claimed = await in_database(rounds.rounds_claim, limit=room) if room else []
        for message_id in claimed:
            if message_id not in self._running:
                task = asyncio.create_task(self._carry_on(message_id))
                self._running[message_id] = task

    async def _carry_on(self, message_id: UUID) -> None:
        try:
            await self._steps(message_id)
        except Exception as error:
            # Its claim lapses, and it is tried again.
            log.error("tool_round_failed", message_id=str(message_id), exc_info=error)
        finally:
            self._running.pop(message_id, None)

    async def _steps(self, message_id: UUID) -> None:
        while True:
            step = await in_database(rounds.round_step, message_id=message_id)
            if not step.due:
                break
            await asyncio.gather(*(call_make(call) for call in step.due))
        if not step.goes_on:
            return
        try:
            answer = await in_database(_message, message_id)
            conversation = answer.conversation
            principal = await _person(conversation)
            tools = await in_database(
                tools_for,
                principal,
                conversation,
                runs_python=PYTHON_NAME in answer.tool_round.offered,
            )
            going = await in_database(
                rounds.round_go_on,
                message_id=message_id,
                tools=tools,
                room_for=await room_for_turn(
                    self._gateway,
                    principal,
                    answer.model,
                    needs=("chat", "tools") if tools else ("chat",),
                ),
            )
        except ParleyError as error:
            log.info("tool_round_ended", message_id=str(message_id), error=str(error))
            await in_database(rounds.round_end, message_id=message_id)
            return
        if going is not None:
            turn, offered = going
            await self._answer(principal, turn, tools_of(offered, turn.assistant_message.model))

    async def _answer(self, principal: Principal, turn: Turn, tools: Tools | None) -> None:
        message_id = turn.assistant_message.id
        with turn_claimed(message_id):
            try:
                wanted = await self._request(principal, turn, tools)
                await generation_start(self._gateway, wanted)
            except ParleyError as error:
                await finish_refused(message_id, error)
            except BaseException:
                await finish_refused(message_id, ParleyError("The answer was not begun."))
                raise

    async def _request(
        self, principal: Principal, turn: Turn, tools: Tools | None
    ) -> GenerationRequest:
        answer = turn.assistant_message
        asker = Asker(self._gateway, principal, request_id=f"tools-{answer.id.hex}")
        return GenerationRequest(
            principal=principal,
            request_id=asker.request_id,
            endpoint="chat",
            model=answer.model,
            messages=await history_with_passages(asker, turn),
            params=merged_parameters(turn, None),
            tools=tools,
            stream_usage=True,
            on_disconnect="grace",
            conversation_id=answer.conversation_id,
            message_id=answer.id,
            turn=TurnIds(
                conversation_id=str(answer.conversation_id),
                user_message_id=str(turn.user_message.id),
                message_id=str(answer.id),
            ),
        )

    async def _leave(self) -> None:
        """What was sent already is waited for: some of it may be sent only once."""
        tasks = list(self._running.values())
        if tasks:
            await asyncio.wait(tasks, timeout=_LEAVE_S)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def tool_loops(gateway: Gateway) -> dict[str, Any]:
    """For the lifespan of a web process."""
    return {"tools": ToolLoop(gateway).run}


async def call_make(call: rounds.DueCall) -> None:
    failed = False
    try:
        made = await _made(call)
    except ToolFailed as error:
        made, failed = Made(str(error)), True
    except Exception as error:
        # Not tried again: what fails so fails so every time.
        log.error("tool_call_failed", call_id=str(call.id), exc_info=error)
        made, failed = Made(SERVER_ERROR), True
    await in_database(rounds.call_finish, call_id=call.id, made=made, failed=failed)


async def _made(call: rounds.DueCall) -> Made:
    """Raises ToolFailed."""
    if call.kind == ServerKind.MCP:
        return Made(await tool_call(call.address, call.name, call.arguments))
    return await web_call(
        call.kind, call.address, call.name, call.arguments, conversation_id=call.conversation_id
    )


async def _person(conversation: Conversation) -> Principal:
    """Whose chat it is, in its project. Raises ParleyError: they may not ask there any more."""
    principal = await principal_for_session(conversation.user, conversation.organization_id)
    if principal.organization_id != conversation.organization_id:
        raise ParleyError("The person has left the organization of this chat.")
    if conversation.project_id in {None, principal.project_id}:
        return principal
    return await in_database(principal_in_project, principal, conversation.project_id)


def _message(message_id: UUID) -> Message:
    return Message.objects.select_related("conversation__user", "tool_round").get(pk=message_id)
