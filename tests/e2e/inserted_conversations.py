"""Conversations put straight into the database: longer or stranger than a model would write."""

import json
import uuid

from tests.e2e.users import Person
from tests.support.product import Product


def insert_branch(product: Product, person: Person, title: str, texts: list[str]) -> str:
    """A conversation of `texts`, prompts and answers in turn; its id."""
    conversation = person.new_conversation(title)
    identities = [str(uuid.uuid4()) for _ in texts]
    rows = [
        {
            "id": identity,
            "parent_id": identities[index - 1] if index else None,
            "role": "assistant" if index % 2 else "user",
            "content": [{"type": "text", "text": text}],
            "text": text,
            # Microseconds apart, so that the order is that of the list.
            "position": index,
        }
        for index, (identity, text) in enumerate(zip(identities, texts, strict=True))
    ]
    product.rows(
        "INSERT INTO conversations_message (id, conversation_id, parent_id, role, content, text,"
        " status, model, finish_reason, input_tokens, output_tokens, created_at)"
        " SELECT id, %s, parent_id, role, content, text, 'completed', 'smollm2-135m', 'stop', 0, 0,"
        " now() + position * interval '1 microsecond'"
        " FROM jsonb_to_recordset(%s) AS given(id uuid, parent_id uuid, role text, content jsonb,"
        " text text, position int) RETURNING id",
        [conversation, json.dumps(rows)],
    )
    product.rows(
        "UPDATE conversations_conversation SET active_message_id = %s WHERE id = %s RETURNING id",
        [identities[-1], conversation],
    )
    return conversation
