"""A response as an answer: its events, or its object when it has ended."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID

from backend.api.generations import Shape
from backend.api.responses.events import RESPONSE_EVENTS, Respond, ResponseEvents
from backend.api.responses.items import output_items
from backend.api.responses.objects import response_object, status_of
from backend.generation.completion import Completion
from backend.generation.models import GenerationState
from backend.generation.request import Event
from backend.generation.thoughts import ThoughtMarks
from backend.generation.tools import begun_call


@dataclass(frozen=True)
class ResponseShape(Shape):
    """
    Attributes:
        asked: see `objects.parameters`.
        after: the number of the last event that the client has.
        at_once: whoever does not stream gets the object as it is queued.
    """

    asked: dict[str, Any]
    after: int = -1
    at_once: bool = False
    wire = RESPONSE_EVENTS

    async def events(
        self, generation_id: UUID, created: datetime, source: AsyncGenerator[Event]
    ) -> AsyncGenerator[Event]:
        made = ResponseEvents(generation_id, self._respond(generation_id, created))
        async with aclosing(source) as chunks:
            for event in made.begin():
                if event.seq > self.after:
                    yield event
            async for chunk in chunks:
                for event in made.feed(chunk):
                    if event.seq > self.after:
                        yield event

    def begun(self, generation_id: UUID, created: datetime) -> dict[str, Any] | None:
        return self._respond(generation_id, created)(status="queued") if self.at_once else None

    def whole(self, generation_id: UUID, completion: Completion) -> dict[str, Any]:
        created = datetime.fromtimestamp(completion.created, UTC)
        return _whole(generation_id, completion, self._respond(generation_id, created))

    def _respond(self, generation_id: UUID, created: datetime) -> Respond:
        return partial(response_object, generation_id, created, self.asked)


def _whole(generation_id: UUID, completion: Completion, respond: Respond) -> dict[str, Any]:
    [choice] = completion.choices
    said = choice.text + "".join(
        begun_call(call.name) + call.arguments for call in choice.tool_calls
    )
    text = ThoughtMarks().text_of(choice.thought, said)
    state = {"cancelled": GenerationState.CANCELLED}.get(
        choice.finish_reason, GenerationState.COMPLETED
    )
    status, incomplete = status_of(state, choice.finish_reason)
    if completion.error is not None:
        status, incomplete = "failed", None
    logprobs = (choice.logprobs or {}).get("content")
    ended = "completed" if status == "completed" else "incomplete"
    return respond(
        status=status,
        output=output_items(generation_id, text, status=ended, logprobs=logprobs) if text else [],
        usage=completion.usage,
        error=completion.error,
        incomplete=incomplete,
        model=completion.model,
    )
