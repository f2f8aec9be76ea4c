"""Results that no model is given, because they read like orders.

The prompt's check decides that anew for each request (`safety/judge/spotlight.py`); here it is
noted for the person, who sees the result.
"""

from backend.tools.models import ToolCall
from safety.audit.selectors import policy_for
from safety.judge.spotlight import is_withheld


def output_is_withheld(call: ToolCall, output: str) -> bool:
    """Whether the model of `call`'s chat is not given `output`. CPU-bound, some milliseconds."""
    message = call.round.message
    organization_id = message.conversation.organization_id
    return is_withheld(output, policy_for(organization_id=organization_id, model=message.model))
