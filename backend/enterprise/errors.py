"""What can go wrong with single sign-on, each with its code."""

from backend.platform.errors import PermissionDenied, UpstreamFailed


def sso_refused(message: str, *, code: str = "sso_refused") -> PermissionDenied:
    """The provider's answer opens nothing here."""
    return PermissionDenied(message, code=code)


def provider_failed(why: str) -> UpstreamFailed:
    """The provider cannot be asked."""
    return UpstreamFailed(
        f"The organization's identity provider could not be asked: {why}.", code="sso_unavailable"
    )
