"""What an API key may be restricted to. A key without scopes may do everything."""

from enum import StrEnum


class Scope(StrEnum):
    """INFERENCE: the models, `/v1`. AUDIT: the audit log. The others: the same-named parts of
    `/api`."""

    INFERENCE = "inference"
    CONVERSATIONS = "conversations"
    USAGE = "usage"
    KEYS = "keys"
    AUDIT = "audit"
