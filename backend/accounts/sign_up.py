"""Signing up: a link goes to the address, and the account is made when it is opened.

It does not show who is registered: for a taken address the same rows are written and the same
answer given; what differs is what its owner reads. An account cannot be made in another's name in
the hope that they confirm it: the link works in the browser that signed up, or with the password.
Without allauth's sign-up, which makes the user, with an unverified password, before the address
is confirmed.
"""

import hashlib
import secrets
from datetime import timedelta

import structlog
from django.conf import settings
from django.contrib.auth.hashers import check_password
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from backend.accounts.addresses import address_lock
from backend.accounts.domains import domain_joins_at_once
from backend.accounts.invitations import invitation_of_sign_up, invitation_use
from backend.accounts.languages import writing_to
from backend.accounts.mail import mail_queue
from backend.accounts.models import Invitation, PendingSignUp, User
from backend.accounts.services import (
    clean_email,
    clean_name,
    own_organization_create,
    password_hash,
    user_insert,
)
from backend.accounts.sign_up_policy import refuse_sign_up
from backend.platform.errors import (
    AuthenticationFailed,
    Conflict,
    NotFound,
    Overloaded,
    ParleyError,
)
from backend.platform.pages import delete_in_pages

LINK_AGE = timedelta(days=1)

log = structlog.get_logger(__name__)


@transaction.atomic
def sign_up_begin(
    *,
    email: str,
    password: str,
    name: str = "",
    may_mail: bool = True,
    invitation: str | None = None,
    language: str = "",
) -> str:
    """Mail a link that makes the account.

    Args:
        invitation: the token of one, which the account then joins by; one that works opens an
            installation that is closed to sign-ups.
        language: of the page, which the mail is in and which becomes the account's.
        may_mail: False where the address has had enough mails; all else is the same.

    Returns:
        What the browser that signed up keeps in its session, for `sign_up_complete`.
    Raises:
        PermissionDenied: this installation is closed to sign-ups of this address.
        Overloaded: it can send no mail.
        InvalidRequest: with `param`: not an address, or a password that is easy to guess.
    """
    name, email = clean_name(name), clean_email(email)
    invited = invitation_of_sign_up(token=invitation, email=email)
    refuse_sign_up(email=email, invited=invited is not None)
    if not (settings.EMAIL_HOST or settings.OUTBOX_TOKEN):
        raise Overloaded(
            "This installation has no mail server, so it cannot confirm addresses; ask its"
            " administrator for an account.",
            code="no_mail_server",
        )
    hashed = password_hash(password, User(email=email, name=name))
    address_lock(email)
    token = secrets.token_urlsafe(32)
    pending = PendingSignUp.objects.create(
        token_sha256=_hash(token),
        email=email,
        name=name,
        password=hashed,
        language=language,
        invitation=invited,
    )
    owner = User.objects.with_address(email).first()
    if may_mail:
        with writing_to(owner, otherwise=language):
            mail_queue(
                to=email,
                kind="sign_up",
                subject=gettext("Confirm your e-mail address"),
                text=_link_text(token) if owner is None else _account_text(),
            )
    return pending.token_sha256


def _link_text(token: str) -> str:
    return gettext(
        "Open this link to confirm your address and start:\n\n%(link)s\n\n"
        "It works for one day. If you did not sign up for Parley, do nothing.\n"
    ) % {"link": f"{settings.PUBLIC_URL}/confirm-sign-up#{token}"}


def _account_text() -> str:
    return gettext(
        "A sign-up for Parley came with this address. You have an account already:\n\n"
        "%(login)s\n\nForgot the password?\n\n%(forgot)s\n"
    ) % {
        "login": f"{settings.PUBLIC_URL}/login",
        "forgot": f"{settings.PUBLIC_URL}/forgot-password",
    }


@transaction.atomic
def sign_up_complete(*, token: str, kept: str | None, password: str | None) -> User:
    """The account, with its address verified: in the organization that invited it or to which its
    domain leads, else in one of its own.

    Args:
        kept: what `sign_up_begin` gave to this browser.
        password: the one that was signed up with; needed in any other browser.
    Raises:
        NotFound: the link is unknown, too old, or was used, or the address is taken by now.
        AuthenticationFailed: another browser, and no password or another one.
    """
    links = PendingSignUp.objects.filter(
        token_sha256=_hash(token), created_at__gt=timezone.now() - LINK_AGE
    )
    email = links.values_list("email", flat=True).first()
    if email is None:
        raise _no_such_link()
    address_lock(email)
    pending = links.select_for_update().first()  # as it is under the lock
    if pending is None:
        raise _no_such_link()
    if kept != pending.token_sha256:
        if not password:
            raise AuthenticationFailed(
                "You signed up in another browser: enter the password that you chose there.",
                code="password_required",
            )
        if not check_password(password, pending.password):
            raise AuthenticationFailed("The password is wrong.", code="wrong_credentials")
    try:
        user = user_insert(
            email=pending.email,
            password=pending.password,
            name=pending.name,
            language=pending.language,
        )
    except Conflict:
        raise _no_such_link() from None
    if not _joins(user, pending.invitation):
        own_organization_create(owner=user)
    PendingSignUp.objects.filter(email=pending.email).delete()
    return user


def pending_sign_ups_delete() -> int:
    """Forget those that were not confirmed in time. Returns how many."""
    expired = PendingSignUp.objects.filter(created_at__lt=timezone.now() - LINK_AGE)
    return delete_in_pages(expired, by="created_at")


def _joins(user: User, invitation: Invitation | None) -> bool:
    """Whether they are in an organization now. An invitation that has been revoked, or is for
    another address, or a plan without a seat, keep nobody from having an account."""
    if invitation is not None:
        try:
            invitation_use(invitation_id=invitation.pk, user=user)
            return True
        except ParleyError as error:
            log.info("invitation_not_used", invitation_id=str(invitation.pk), code=error.code)
    return domain_joins_at_once(user)


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _no_such_link() -> NotFound:
    return NotFound("This link has expired or was used already.", code="link_invalid")
