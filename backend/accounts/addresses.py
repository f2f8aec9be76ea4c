"""E-mail addresses: verified, changed. allauth's `EmailAddress` says which are verified.

A link in a mail is a signed note of what it does: whose address, from which to which. It works
once, because afterwards the address is another, and for a day. That an address belongs to another
account is mailed to that address alone.
"""

from typing import Any
from uuid import UUID

from allauth.account.models import EmailAddress
from django.conf import settings
from django.core import signing
from django.db import IntegrityError, transaction
from django.utils.translation import gettext

from backend.accounts.account_events import account_event_record
from backend.accounts.languages import writing_to
from backend.accounts.mail import mail_queue
from backend.accounts.models import User
from backend.accounts.services import clean_email
from backend.audit.actions import Action
from backend.platform.database import transaction_lock
from backend.platform.errors import InvalidRequest, NotFound

_SALT = "parley.address"
LINK_AGE_S = 24 * 3600


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
def address_verification_send(*, user: User) -> None:
    """For an account that an administrator made, or that is older than verification."""
    with writing_to(user):
        mail_queue(
            to=user.email,
            kind="verify_address",
            subject=gettext("Confirm your e-mail address"),
            text=gettext(
                "Open this link to confirm that %(email)s is yours:\n\n%(link)s\n\n"
                "It works for one day. If you did not sign in to Parley, do nothing.\n"
            )
            % {"email": user.email, "link": _link(user, to=user.email)},
        )


@transaction.atomic
def address_change_begin(*, user_id: UUID, email: str) -> None:
    """Ask the new address. Nothing changes before its link is opened.

    Raises:
        InvalidRequest: not an address, or the one that they have.
    """
    user = _user(user_id)
    email = clean_email(email)
    if email == user.email:
        raise InvalidRequest("This is your address already.", param="email")
    owner = User.objects.with_address(email).first()
    with writing_to(owner or user):
        mail_queue(
            to=email,
            kind="change_address",
            subject=gettext("Confirm your new address"),
            text=_taken_text() if owner else _change_text(email, _link(user, to=email)),
        )


def _taken_text() -> str:
    return gettext(
        "Another Parley account asked to use this address. It belongs to yours,"
        " so nothing has changed.\n"
    )


def _change_text(email: str, link: str) -> str:
    return gettext(
        "Open this link to use %(email)s for your Parley account:\n\n%(link)s\n\n"
        "It works for one day. If you did not ask for this, do nothing.\n"
    ) % {"email": email, "link": link}


@transaction.atomic
def address_confirm(*, token: str) -> User:
    """Do what a link says: verify the address, or change to it and tell the old one.

    Raises:
        NotFound: the link is forged, too old, or was used.
    """
    note = _read(token)
    user = User.objects.select_for_update().filter(pk=note["user"], is_active=True).first()
    if user is None or user.email != note["from"]:
        raise _no_such_link()
    old = user.email
    if note["to"] != old:
        user.email = note["to"]
        try:
            with transaction.atomic():
                user.save(update_fields=["email"])
        except IntegrityError:
            raise _no_such_link() from None
        account_event_record(Action.EMAIL_CHANGED, user_id=user.pk)
        _tell_old(user, old)
    elif address_is_verified(user):
        raise _no_such_link()
    address_verify(user)
    return user


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


def _link(user: User, *, to: str) -> str:
    note = {"user": str(user.pk), "from": user.email, "to": to}
    # After the #: it is sent to no server and stands in no log.
    token = signing.dumps(note, salt=_SALT)
    return f"{settings.PUBLIC_URL}/confirm-address#{token}"


def _read(token: str) -> dict[str, Any]:
    try:
        note: dict[str, Any] = signing.loads(token, salt=_SALT, max_age=LINK_AGE_S)
    except signing.BadSignature:
        raise _no_such_link() from None
    return note


def _no_such_link() -> NotFound:
    return NotFound("This link has expired or was used already.", code="link_invalid")
