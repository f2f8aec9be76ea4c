"""Ready-made conversations, written straight to the tables: services would take a turn each."""

from datetime import timedelta

from django.utils import timezone

from backend.accounts.principal import Principal
from backend.conversations.models import Conversation, Message
from tests.factories import conversation_of

START = timezone.now() - timedelta(days=1)


def finished_turns(principal: Principal, count: int, **conversation: object) -> Conversation:
    """A conversation of `count` prompts and completed answers, the last one active.

    Texts are `prompt 0`, `answer 0`, `prompt 1` …; an answer took 10 tokens in, 5 out.
    """
    row = conversation_of(principal, **conversation)
    messages: list[Message] = []
    for turn in range(count):
        for role in ("user", "assistant"):
            text = f"{'prompt' if role == 'user' else 'answer'} {turn}"
            messages.append(
                Message(
                    conversation=row,
                    parent=messages[-1] if messages else None,
                    role=role,
                    text=text,
                    content=[{"type": "text", "text": text}],
                    input_tokens=10 if role == "assistant" else 0,
                    output_tokens=5 if role == "assistant" else 0,
                    created_at=START + timedelta(seconds=len(messages)),
                )
            )
    Message.objects.bulk_create(messages)
    if messages:
        row.active_message = messages[-1]
        row.save()
    return row


def texts(conversation: Conversation) -> list[str]:
    return [m.text for m in conversation.messages.order_by("created_at", "id")]
