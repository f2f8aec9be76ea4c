"""Passwords: changed by a signed-in user, reset by a link in a mail.

Every change ends the other sessions (a session holds a hash of the stored password) and is
mailed to the user. A second factor stays: a reset alone opens no account that has one.
"""

from uuid import UUID

from django.conf import settings
from django.contrib.auth.tokens import default_token_generator
from django.db import transaction
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext

from backend.accounts.account_events import account_event_record
from backend.accounts.addresses import address_is_verified, address_verify
from backend.accounts.languages import writing_to
from backend.accounts.mail import mail_queue
from backend.accounts.models import User
from backend.accounts.services import clean_email, password_hash, user_keys_end
from backend.accounts.sessions import sessions_end
from backend.audit.actions import Action
from backend.platform.errors import NotFound, Overloaded


@transaction.atomic
def password_change(*, user_id: UUID, password: str, session_key: str | None) -> User:
    """Set another password, and end every session but `session_key`.

    Raises:
        InvalidRequest: one that is easy to guess. NotFound: the account is gone.
    """
    user = User.objects.select_for_update().filter(pk=user_id, is_active=True).first()
    if user is None:
        raise NotFound("This account does not exist any more.")
    _set(user, password)
    sessions_end(user_id=user.pk, but=session_key)
    account_event_record(Action.PASSWORD_CHANGED, user_id=user.pk)
    return user


@transaction.atomic
def password_reset_begin(*, email: str, language: str = "") -> None:
    """Mail a link to choose another password, or that there is no account: the asker cannot tell.

    Args:
        language: the asker's, for who has told none or has no account.
    Raises:
        InvalidRequest: not an address. Overloaded: there is no mail server.
    """
    if not (settings.EMAIL_HOST or settings.OUTBOX_TOKEN):
        raise Overloaded(
            "This installation has no mail server; ask its administrator for another password.",
            code="no_mail_server",
        )
    email = clean_email(email)
    user = User.objects.with_address(email).filter(is_active=True).first()
    token = f"{user.pk.hex}.{default_token_generator.make_token(user)}" if user else ""
    with writing_to(user, otherwise=language):
        mail_queue(
            to=email,
            kind="reset_password",
            subject=gettext("Choose another password"),
            text=_reset_text(token),
        )


@transaction.atomic
def password_reset_complete(*, token: str, password: str, revoke_keys: bool = False) -> None:
    """Set the password that was chosen behind the link, and end every session.

    The link came to the address, so that is verified too.

    Args:
        revoke_keys: the API keys of the account end as well. They always do where the address was
            never confirmed: who made them may be somebody else.
    Raises:
        NotFound: the link is forged, too old, or was used. InvalidRequest: easy to guess.
    """
    user = _owner(token)
    _set(user, password)
    if revoke_keys or not address_is_verified(user):
        user_keys_end(user_id=user.pk)
    address_verify(user)
    sessions_end(user_id=user.pk)
    account_event_record(Action.PASSWORD_RESET, user_id=user.pk)


def _reset_text(token: str) -> str:
    if not token:
        return gettext(
            "Another password was asked for, of the Parley account with this"
            " address. There is none.\n"
        )
    return gettext(
        "Open this link to choose another password:\n\n%(link)s\n\n"
        "It works once, for one hour. If you did not ask for it, do nothing.\n"
    ) % {"link": f"{settings.PUBLIC_URL}/reset-password#{token}"}


def _owner(token: str) -> User:
    identity, _, proof = token.partition(".")
    try:
        user_id = UUID(hex=identity)
    except ValueError:
        raise _no_such_link() from None
    user = User.objects.select_for_update().filter(pk=user_id, is_active=True).first()
    # The identity as we write it: one link has one spelling.
    if user is None or not constant_time_compare(identity, user.pk.hex):
        raise _no_such_link()
    if not default_token_generator.check_token(user, proof):
        raise _no_such_link()
    return user


def _set(user: User, password: str) -> None:
    user.password = password_hash(password, user)
    user.save(update_fields=["password"])
    with writing_to(user):
        mail_queue(
            to=user.email,
            kind="password_changed",
            subject=gettext("Your password was changed"),
            text=gettext(
                "The password of your Parley account was changed, and every other session ended."
                "\n\nIf this was not you: %(link)s\n"
            )
            % {"link": f"{settings.PUBLIC_URL}/forgot-password"},
        )


def _no_such_link() -> NotFound:
    return NotFound("This link has expired or was used already.", code="link_invalid")
