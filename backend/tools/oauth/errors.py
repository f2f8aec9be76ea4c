"""What can go wrong while somebody signs in at a tool server."""

from backend.platform.errors import Conflict, InvalidRequest, UpstreamFailed
from backend.tools.types import stored_text


class SignInFailed(UpstreamFailed):
    """The server, or its authorization server, did not do what the specification says."""

    code = "tool_sign_in_failed"


class SignInRefused(SignInFailed):
    """The authorization server said no.

    Attributes:
        error: its code, as OAuth has it (`access_denied`, `invalid_grant`).
    """

    code = "tool_sign_in_refused"

    def __init__(self, error: str) -> None:
        self.error = stored_text(error)[:100]
        super().__init__(f"The authorization server refused: {self.error}.")


class ClientNeeded(InvalidRequest):
    """The authorization server registers no client by itself, and none was given."""

    code = "tool_client_needed"


class IssuerChanged(Conflict):
    """A given client belongs to another authorization server than the one that is named now."""

    code = "tool_issuer_changed"


class UnknownSignIn(InvalidRequest):
    """An answer that belongs to no sign-in of this browser, person and server."""

    code = "tool_sign_in_unknown"
