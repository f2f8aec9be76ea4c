"""Recursive queries over the tree of messages: one query each, whatever the depth.

Every query starts inside one conversation, and a parent is in the same conversation as its
children, so none of them can leave it.

LATERAL with LIMIT or OFFSET keeps each step a lookup by index. As plain joins these queries were
at the mercy of the table's statistics: gathered while a long chat was being written, they promise
one row, and the planner then compares every message with every other.
"""

from collections import defaultdict
from collections.abc import Iterable
from uuid import UUID

from django.db import connection
from django.db.models import Q

from backend.conversations.models import Message

_PATH = """
WITH RECURSIVE path AS (
    SELECT id, parent_id, 0 AS depth, octet_length(text) + %(overhead)s AS bytes
    FROM conversations_message
    WHERE id = %(leaf)s AND conversation_id = %(conversation)s
  UNION ALL
    SELECT above.id, above.parent_id, path.depth + 1,
           path.bytes + octet_length(above.text) + %(overhead)s
    FROM path
    CROSS JOIN LATERAL (
        SELECT * FROM conversations_message WHERE id = path.parent_id LIMIT 1
    ) above
    WHERE path.depth + 1 < %(messages)s AND path.bytes < %(bytes)s
)
SELECT message.*
FROM path
CROSS JOIN LATERAL (SELECT * FROM conversations_message WHERE id = path.id LIMIT 1) message
ORDER BY path.depth DESC
"""

_NEWEST_LEAF = """
WITH RECURSIVE below AS (
    SELECT id, created_at
    FROM conversations_message
    WHERE id = %(top)s AND conversation_id = %(conversation)s
  UNION ALL
    SELECT child.id, child.created_at
    FROM below
    CROSS JOIN LATERAL (
        SELECT id, created_at FROM conversations_message WHERE parent_id = below.id OFFSET 0
    ) child
)
SELECT below.id
FROM below
WHERE NOT EXISTS (
    SELECT FROM conversations_message child WHERE child.parent_id = below.id OFFSET 0
)
ORDER BY below.created_at DESC, below.id DESC
LIMIT 1
"""

_NEAREST_ABOVE = """
WITH RECURSIVE path AS (
    SELECT id, parent_id
    FROM conversations_message
    WHERE id = %(leaf)s AND conversation_id = %(conversation)s
  UNION ALL
    SELECT above.id, above.parent_id
    FROM path
    CROSS JOIN LATERAL (
        SELECT id, parent_id FROM conversations_message WHERE id = path.parent_id LIMIT 1
    ) above
    WHERE NOT (path.id = ANY(%(among)s) AND path.id <> %(leaf)s)
)
SELECT id FROM path WHERE id = ANY(%(among)s) AND id <> %(leaf)s
"""

_UNLIMITED = 2**31 - 1
MESSAGE_OVERHEAD = 24  # what role and separators of a message weigh, so that many short ones end


def path_to(
    *,
    conversation_id: UUID,
    leaf_id: UUID,
    max_messages: int = _UNLIMITED,
    max_bytes: int = _UNLIMITED,
) -> list[Message]:
    """The messages from the root to `leaf_id`, in order; the newest of them where limited.

    Args:
        max_bytes: stop above the message that brings the text to this size, in UTF-8 and with
            MESSAGE_OVERHEAD for each message.
    Returns:
        An empty list where the conversation has no such message.
    """
    return list(
        Message.objects.raw(
            _PATH,
            {
                "leaf": leaf_id,
                "conversation": conversation_id,
                "messages": max_messages,
                "bytes": max_bytes,
                "overhead": MESSAGE_OVERHEAD,
            },
        )
    )


def newest_leaf_below(*, conversation_id: UUID, message_id: UUID) -> UUID | None:
    """The leaf under `message_id` (or itself) that was created last; None without such one."""
    with connection.cursor() as cursor:
        cursor.execute(_NEWEST_LEAF, {"top": message_id, "conversation": conversation_id})
        row = cursor.fetchone()
    return row[0] if row else None


def nearest_above(*, conversation_id: UUID, leaf_id: UUID, among: Iterable[UUID]) -> UUID | None:
    """The first of `among` on the way up from `leaf_id`, itself left out; None without one."""
    with connection.cursor() as cursor:
        cursor.execute(
            _NEAREST_ABOVE,
            {"leaf": leaf_id, "conversation": conversation_id, "among": list(among)},
        )
        row = cursor.fetchone()
    return row[0] if row else None


def siblings_of(messages: Iterable[Message]) -> dict[UUID, list[UUID]]:
    """For each of `messages` of one conversation: the ids under the same parent, oldest first.

    A message is among its own siblings, so that its place in the list is the branch number.
    """
    wanted = list(messages)
    if not wanted:
        return {}
    parents = {message.parent_id for message in wanted}
    same_parent = Q(parent_id__in=parents - {None})
    if None in parents:
        same_parent |= Q(parent_id=None)
    families: dict[UUID | None, list[UUID]] = defaultdict(list)
    rows = (
        Message.objects.filter(same_parent, conversation_id=wanted[0].conversation_id)
        .order_by("created_at", "id")
        .values_list("parent_id", "id")
    )
    for parent_id, message_id in rows:
        families[parent_id].append(message_id)
    return {message.id: families[message.parent_id] for message in wanted}
