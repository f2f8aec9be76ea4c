"""What an API key may be restricted to. A key without scopes may do everything but administer."""

from enum import StrEnum


class Scope(StrEnum):
    """INFERENCE: the models, `/v1`. AUDIT: the audit log. ADMINISTRATION: members, invitations and
    projects, by `/v1/organization`; a key has it only where it was given. The others: the
    same-named parts of `/api`."""

    INFERENCE = "inference"
    CONVERSATIONS = "conversations"
    USAGE = "usage"
    KEYS = "keys"
    AUDIT = "audit"
    ADMINISTRATION = "administration"
