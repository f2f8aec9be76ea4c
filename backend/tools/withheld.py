"""Results that no model is given, because they read like orders.

The prompt's check decides that anew for each request (`safety/judge/spotlight.py`); here it is
noted for the person, who sees the result.
"""

from backend.tools.models import ToolCall
from safety.audit.selectors import policy_for
from safety.judge.spotlight import withheld_spans


def output_withheld(call: ToolCall, output: str) -> tuple[bool, bool]:
    """Whether the model of `call`'s chat is not given something of `output`, and whether that is
    a part of it. CPU-bound, some milliseconds."""
    message = call.round.message
    organization_id = message.conversation.organization_id
    policy = policy_for(organization_id=organization_id, model=message.model)
    spans = withheld_spans(output, policy)
    return bool(spans), bool(spans) and spans != [(0, len(output))]
