"""What a person has besides their password: an authenticator app (TOTP), recovery codes, passkeys.

allauth.mfa keeps them, its seeds encrypted (allauth_adapter.py), and checks them. A code of the app
works once. Recovery codes come with the first factor, are shown once, work once each, and go with
the last factor. Every change is mailed to the user.
"""

from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from allauth.core.internal.cryptokit import normalize_user_code
from allauth.mfa import app_settings
from allauth.mfa.adapter import get_adapter
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import generate_totp_secret, validate_totp_code
from django.conf import settings
from django.core.cache import cache
from django.db import IntegrityError, transaction
from django.db.models import OuterRef, QuerySet
from django.utils.translation import gettext, ngettext

from backend.accounts.account_events import account_event_record
from backend.accounts.encryption import seed_decrypt, seed_encrypt
from backend.accounts.languages import writing_to
from backend.accounts.mail import mail_queue
from backend.accounts.models import User
from backend.audit.actions import Action
from backend.audit.services import SYSTEM
from backend.platform.errors import Conflict, InvalidRequest, NotFound

TOTP = Authenticator.Type.TOTP
RECOVERY_CODES = Authenticator.Type.RECOVERY_CODES
PASSKEY = Authenticator.Type.WEBAUTHN


@dataclass(frozen=True, slots=True)
class Passkey:
    id: int
    name: str
    created_at: datetime
    last_used_at: datetime | None


@dataclass(frozen=True, slots=True)
class SecondFactors:
    """What a person has. `recovery_codes` are those not used yet."""

    totp: bool
    recovery_codes: int
    passkeys: list[Passkey]

    @property
    def any(self) -> bool:
        return self.totp or bool(self.passkeys)


@dataclass(frozen=True, slots=True)
class TotpEnrolment:
    """What an authenticator app is given: the secret, the same as a URI, and as a QR code (SVG)."""

    secret: str
    uri: str
    qr_svg: str

    @property
    def qr_base64(self) -> str:
        """For the `data:` address of an image."""
        return b64encode(self.qr_svg.encode()).decode()


def second_factors_get(*, user_id: UUID) -> SecondFactors:
    """Of one person, oldest passkey first."""
    found = list(Authenticator.objects.filter(user_id=user_id).order_by("pk"))
    codes = next((a for a in found if a.type == RECOVERY_CODES), None)
    return SecondFactors(
        totp=any(a.type == TOTP for a in found),
        recovery_codes=len(RecoveryCodes(codes).get_unused_codes()) if codes else 0,
        passkeys=[
            Passkey(a.pk, a.wrap().name, a.created_at, a.last_used_at)
            for a in found
            if a.type == PASSKEY
        ],
    )


def has_second_factor(*, user_id: UUID) -> bool:
    return factors_of(user_id).exists()


def factors_of(user_id: UUID | OuterRef) -> QuerySet[Authenticator]:
    """The apps and passkeys of a user; recovery codes are none."""
    return Authenticator.objects.filter(user_id=user_id, type__in=[TOTP, PASSKEY])


def totp_begin(*, user: User) -> TotpEnrolment:
    """A new secret, which nothing stores yet: the caller keeps it, sealed, until then."""
    return totp_shown(user=user, secret=generate_totp_secret())


def totp_shown(*, user: User, secret: str) -> TotpEnrolment:
    adapter = get_adapter()
    uri = adapter.build_totp_url(user, secret)
    return TotpEnrolment(secret, uri, adapter.build_totp_svg(uri))


def totp_seal(secret: str) -> str:
    """For the session, which lies in the database."""
    return seed_encrypt(secret)


def totp_unseal(sealed: str) -> str:
    return seed_decrypt(sealed)


@transaction.atomic
def totp_activate(*, user: User, secret: str, code: str) -> list[str]:
    """Enrol the app that shows `code`.

    Returns:
        New recovery codes, to be shown once; none where the person has some already.
    Raises:
        InvalidRequest: the code is not that of the secret now. Conflict: there is an app already.
    """
    if not validate_totp_code(secret, code):
        raise InvalidRequest(
            "The code is not right: enter the newest one that the app shows.", param="code"
        )
    try:
        with transaction.atomic():
            Authenticator.objects.create(
                user=user, type=TOTP, data={"secret": get_adapter().encrypt(secret)}
            )
    except IntegrityError:
        raise Conflict("You have an authenticator app already; remove it first.") from None
    _first_use_of(user.pk, code)
    account_event_record(Action.FACTOR_ADDED, user_id=user.pk, details={"kind": str(TOTP)})
    _notify(user, lambda: gettext("An authenticator app was added to your account."))
    return recovery_codes_ensure(user=user)


@transaction.atomic
def totp_remove(*, user: User) -> None:
    """Raises NotFound where there is none."""
    deleted, _ = Authenticator.objects.filter(user=user, type=TOTP).delete()
    if not deleted:
        raise NotFound("There is no authenticator app.")
    _after_removal(
        user, TOTP, lambda: gettext("The authenticator app was removed from your account.")
    )


@transaction.atomic
def recovery_codes_ensure(*, user: User) -> list[str]:
    """Ten codes where there are none; otherwise an empty list, for none is ever shown again."""
    if Authenticator.objects.filter(user=user, type=RECOVERY_CODES).exists():
        return []
    return RecoveryCodes.activate(user).generate_codes()


@transaction.atomic
def recovery_codes_renew(*, user: User) -> list[str]:
    """Ten other codes; the earlier ones work no longer.

    Raises:
        Conflict: there is no second factor that they could stand in for.
    """
    if not has_second_factor(user_id=user.pk):
        raise Conflict("Add an authenticator app or a passkey first.")
    Authenticator.objects.filter(user=user, type=RECOVERY_CODES).delete()
    account_event_record(Action.RECOVERY_CODES_RENEWED, user_id=user.pk)
    _notify(user, lambda: gettext("New recovery codes were made for your account."))
    return RecoveryCodes.activate(user).generate_codes()


@transaction.atomic
def code_use(*, user: User, code: str) -> str | None:
    """Use a code of the app or a recovery code up.

    Returns:
        Which it was, `totp` or `recovery_codes`; None where it is neither, or was used before.
    """
    factors = {
        a.type: a
        for a in Authenticator.objects.select_for_update().filter(
            user=user, type__in=[TOTP, RECOVERY_CODES]
        )
    }
    totp = factors.get(TOTP)
    if totp is not None and validate_totp_code(get_adapter().decrypt(totp.data["secret"]), code):
        if not _first_use_of(user.pk, code):
            return None
        totp.record_usage()
        return str(TOTP)
    codes = factors.get(RECOVERY_CODES)
    if codes is not None and RecoveryCodes(codes).validate_code(code):
        codes.refresh_from_db()
        codes.record_usage()
        left = len(RecoveryCodes(codes).get_unused_codes())
        account_event_record(
            Action.RECOVERY_CODE_USED, user_id=user.pk, details={"unused_codes": left}
        )
        _notify(user, lambda: _used_text(left))
        return str(RECOVERY_CODES)
    return None


@transaction.atomic
def passkey_remove(*, user: User, passkey_id: int) -> None:
    """Raises NotFound, also for another's."""
    deleted, _ = Authenticator.objects.filter(pk=passkey_id, user=user, type=PASSKEY).delete()
    if not deleted:
        raise NotFound(f"There is no passkey {passkey_id}.")
    _after_removal(user, PASSKEY, lambda: gettext("A passkey was removed from your account."))


@transaction.atomic
def second_factors_reset(*, user: User) -> None:
    """Take every factor away, from a user who has lost all of them; for administrators."""
    Authenticator.objects.filter(user=user).delete()
    account_event_record(Action.FACTORS_RESET, user_id=user.pk, actor=SYSTEM)
    _notify(user, lambda: gettext("An administrator removed the second factors of your account."))


@transaction.atomic
def wrong_codes_notify(*, user: User) -> None:
    """Wrong codes were given after the right password, which somebody else may know."""
    _notify(
        user,
        lambda: gettext("Wrong codes were given after the right password of your account."),
    )


def passkey_added(*, user: User) -> list[str]:
    """As the end of `totp_activate`, for a passkey."""
    account_event_record(Action.FACTOR_ADDED, user_id=user.pk, details={"kind": str(PASSKEY)})
    _notify(user, lambda: gettext("A passkey was added to your account."))
    return recovery_codes_ensure(user=user)


def _after_removal(user: User, kind: str, what: Callable[[], str]) -> None:
    account_event_record(Action.FACTOR_REMOVED, user_id=user.pk, details={"kind": str(kind)})
    if not has_second_factor(user_id=user.pk):
        Authenticator.objects.filter(user=user, type=RECOVERY_CODES).delete()
    _notify(user, what)


def _first_use_of(user_id: UUID, code: str) -> bool:
    """Whether this code was not used before; from now on it was.

    For as long as it is right: allauth's own note lasts one period, which is too short where
    neighbouring periods are right too.
    """
    lifetime = app_settings.TOTP_PERIOD * (2 * app_settings.TOTP_TOLERANCE + 1)
    return cache.add(f"totp-used:{user_id}:{normalize_user_code(code)}", 1, timeout=lifetime)


def _used_text(left: int) -> str:
    return ngettext(
        "A recovery code was used to sign in. %(left)d is left.",
        "A recovery code was used to sign in. %(left)d are left.",
        left,
    ) % {"left": left}


def _notify(user: User, what: Callable[[], str]) -> None:
    """`what` makes the sentence, in the language that it is called in."""
    with writing_to(user):
        mail_queue(
            to=user.email,
            kind="second_factor",
            subject=gettext("Your Parley account's security changed"),
            text=gettext(
                "%(what)s\n\nIf this was not you, choose another password at once, which ends every"
                " session:\n\n%(link)s\n"
            )
            % {"what": what(), "link": f"{settings.PUBLIC_URL}/forgot-password"},
        )
