"""Who may sign up by themselves: anybody, addresses of some domains, or only who was invited.

The row of the admin decides; without one PARLEY_SIGNUP_OPEN does. An invitation opens every mode.
"""

from django.conf import settings

from backend.accounts.models import SignUpPolicy
from backend.accounts.operator_models import SignUpMode
from backend.platform.errors import PermissionDenied


def refuse_sign_up(*, email: str, invited: bool = False) -> None:
    """Raise unless this address may sign up. Says nothing of whether it has an account.

    Args:
        email: clean, as it would be stored.
        invited: it holds a valid invitation.
    Raises:
        PermissionDenied: `signup_closed`, `signup_by_invitation`, `signup_domain`.
    """
    if invited:
        return
    policy = SignUpPolicy.objects.first()
    if policy is None:
        if not settings.SIGNUP_OPEN:
            raise PermissionDenied(
                "This installation takes no sign-ups; ask its administrator for an account.",
                code="signup_closed",
            )
        return
    if policy.mode == SignUpMode.INVITATION:
        raise PermissionDenied(
            "This installation is open by invitation only; ask somebody there to invite you.",
            code="signup_by_invitation",
        )
    if policy.mode == SignUpMode.DOMAIN and _domain(email) not in map(_clean, policy.domains):
        raise PermissionDenied(
            f"This installation takes no sign-ups from {_domain(email)}.", code="signup_domain"
        )


def _domain(email: str) -> str:
    return email.rpartition("@")[2].lower()


def _clean(domain: str) -> str:
    return domain.strip().lower().removeprefix("@")
