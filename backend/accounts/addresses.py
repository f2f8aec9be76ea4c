"""E-mail addresses: verified, changed. allauth's `EmailAddress` says which are verified.

A link goes to the address that is to be confirmed. It works once, for a day, in the session that
asked for it or with the account's password: opening a link that another person asked for gives
them nothing. Another password and the end of all sessions void it, and the address that an account
has is told at once, with a link that stops the change. That an address belongs to another account
is mailed to that address alone.
"""

import hashlib
import secrets
from datetime import timedelta
from uuid import UUID

from allauth.account.models import EmailAddress
from django.conf import settings
from django.contrib.auth.hashers import check_password
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext

from backend.accounts.account_events import account_event_record
from backend.accounts.languages import writing_to
from backend.accounts.mail import mail_queue
from backend.accounts.models import PendingAddress, User
from backend.accounts.services import clean_email
from backend.audit.actions import Action
from backend.platform.database import transaction_lock
from backend.platform.errors import Conflict, InvalidRequest, NotFound, PermissionDenied
from backend.platform.pages import delete_in_pages

LINK_AGE = timedelta(days=1)


def address_lock(email: str) -> None:
    """One at a time signs up with an address, or erases who has it, until the transaction ends:
    so what a sign-up stores is of before the erasure and goes with it, or of after it and stays."""
    transaction_lock(f"accounts.address.{email.lower()}")


def address_is_verified(user: User) -> bool:
    return EmailAddress.objects.filter(user=user, email=user.email, verified=True).exists()


def address_verify(user: User) -> None:
    """`user.email` is theirs: a link was opened, or an administrator says so."""
    EmailAddress.objects.filter(user=user).exclude(email=user.email).delete()
    EmailAddress.objects.update_or_create(
        user=user, email=user.email, defaults={"verified": True, "primary": True}
    )


@transaction.atomic
def address_verification_send(*, user: User) -> str:
    """For an account that an administrator made, or that is older than verification.

    Returns:
        What the browser that gave the password keeps in its session, for `address_confirm`.
    """
    token, _ = _pending_create(user, user.email)
    with writing_to(user):
        mail_queue(
            to=user.email,
            kind="verify_address",
            subject=gettext("Confirm your e-mail address"),
            text=gettext(
                "Open this link to confirm that %(email)s is yours:\n\n%(link)s\n\n"
                "It works for one day. If you did not sign in to Parley, do nothing.\n"
            )
            % {"email": user.email, "link": _link(token)},
        )
    return _hash(token)


@transaction.atomic
def address_change_begin(*, user_id: UUID, email: str) -> str:
    """Ask the new address, and tell the old one. Nothing changes before the link is opened.

    Returns:
        What the asking browser keeps in its session, for `address_confirm`.
    Raises:
        InvalidRequest: not an address, or the one that they have.
    """
    user = _user(user_id)
    email = clean_email(email)
    if email == user.email:
        raise InvalidRequest("This is your address already.", param="email")
    owner = User.objects.with_address(email).first()
    token, stop = _pending_create(user, email)
    with writing_to(owner or user):
        mail_queue(
            to=email,
            kind="change_address",
            subject=gettext("Confirm your new address"),
            text=_taken_text() if owner else _change_text(user, email, _link(token)),
        )
    _tell_begun(user, email, stop)
    return _hash(token)


@transaction.atomic
def address_confirm(*, token: str, kept: str | None, password: str | None) -> User:
    """Do what a link says: verify the address, or change to it and tell the old one.

    Args:
        kept: what the begin gave to this browser.
        password: the account's; needed in any other browser. Hashed here: run this in
            PASSWORD_THREADS.
    Raises:
        NotFound: the link is unknown, too old, was used or stopped, or the address is taken.
        PermissionDenied: `address_password_required`: another browser, and no password.
        InvalidRequest: a wrong one.
    """
    pending = _pending(token_sha256=_hash(token))
    user = pending.user
    if not (kept and constant_time_compare(kept, pending.token_sha256)):
        _require_password(user, password)
    pending.delete()
    if pending.email == user.email:
        address_verify(user)
        return user
    try:
        address_move(user=user, email=pending.email)
    except Conflict:
        raise _no_such_link() from None
    return user


@transaction.atomic
def address_move(*, user: User, email: str) -> None:
    """Give `user` another address, known to be theirs, and tell the old one. A change that waits
    for its link is forgotten.

    Raises Conflict: another account has it.
    """
    old, user.email = user.email, email
    try:
        with transaction.atomic():
            user.save(update_fields=["email"])
    except IntegrityError as error:
        user.email = old
        raise Conflict(
            "Another account has this address.", param="email", code="email_taken"
        ) from error
    PendingAddress.objects.filter(user=user).delete()
    account_event_record(Action.EMAIL_CHANGED, user_id=user.pk)
    _tell_old(user, old)
    address_verify(user)


@transaction.atomic
def address_change_stop(*, token: str) -> None:
    """The link in the mail to the old address. Raises NotFound as `address_confirm`."""
    _pending(stop_sha256=_hash(token)).delete()


def pending_addresses_delete() -> int:
    """Forget those that were not confirmed in time. Returns how many."""
    expired = PendingAddress.objects.filter(created_at__lt=timezone.now() - LINK_AGE)
    return delete_in_pages(expired, by="created_at")


def _pending_create(user: User, email: str) -> tuple[str, str]:
    """The tokens that confirm and that stop; they replace those of an earlier request."""
    token, stop = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
    PendingAddress.objects.filter(user=user).delete()
    PendingAddress.objects.create(
        user=user,
        email=email,
        token_sha256=_hash(token),
        stop_sha256=_hash(stop),
        session_auth_hash=user.get_session_auth_hash(),
    )
    return token, stop


def _pending(**which: str) -> PendingAddress:
    """The row that `which` names, its user locked. Raises NotFound."""
    rows = PendingAddress.objects.filter(created_at__gt=timezone.now() - LINK_AGE, **which)
    unlocked = rows.first()
    if unlocked is None:
        raise _no_such_link()
    # The user first, as what ends sessions does; then the row as it is under the lock.
    user = User.objects.select_for_update().filter(pk=unlocked.user_id, is_active=True).first()
    pending = rows.first()
    if user is None or pending is None or pending.session_auth_hash != user.get_session_auth_hash():
        raise _no_such_link()
    pending.user = user
    return pending


def _require_password(user: User, password: str | None) -> None:
    if not password:
        raise PermissionDenied(
            "This was asked for in another browser: enter the password of the account.",
            code="address_password_required",
        )
    if not check_password(password, user.password):
        raise InvalidRequest("The password is wrong.", param="password", code="wrong_credentials")


def _taken_text() -> str:
    return gettext(
        "Another Parley account asked to use this address. It belongs to yours,"
        " so nothing has changed.\n"
    )


def _change_text(user: User, email: str, link: str) -> str:
    return gettext(
        "Open this link to use %(new)s for the Parley account of %(old)s:\n\n%(link)s\n\n"
        "It works for one day, and asks for the account's password in another browser than the"
        " one that asked for it. If you did not ask for this, do nothing.\n"
    ) % {"new": email, "old": user.email, "link": link}


def _tell_begun(user: User, new: str, stop: str) -> None:
    with writing_to(user):
        mail_queue(
            to=user.email,
            kind="address_change_begun",
            subject=gettext("Your e-mail address is about to change"),
            text=gettext(
                "Your Parley account was asked to change its address from %(old)s to %(new)s.\n\n"
                "If this was not you, stop it:\n\n%(link)s\n\n"
                "Then choose another password, which ends every other session.\n"
            )
            % {
                "old": user.email,
                "new": new,
                "link": f"{settings.PUBLIC_URL}/stop-address-change#{stop}",
            },
        )


def _tell_old(user: User, old: str) -> None:
    with writing_to(user):
        mail_queue(
            to=old,
            kind="address_changed",
            subject=gettext("Your e-mail address was changed"),
            text=gettext(
                "Your Parley account now has the address %(new)s. %(old)s opens it no longer."
                "\n\nIf this was not you, tell the operator of this installation at once.\n"
            )
            % {"new": user.email, "old": old},
        )


def _user(user_id: UUID) -> User:
    user = User.objects.filter(pk=user_id).first()
    if user is None:
        raise NotFound("This account does not exist any more.")
    return user


def _link(token: str) -> str:
    # After the #: it is sent to no server and stands in no log.
    return f"{settings.PUBLIC_URL}/confirm-address#{token}"


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _no_such_link() -> NotFound:
    return NotFound("This link has expired or was used already.", code="link_invalid")
