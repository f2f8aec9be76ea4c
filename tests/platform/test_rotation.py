"""`manage.py rotate-keys` on what is stored: nothing lost, nothing left behind, nothing dropped too
early."""

import base64
import hashlib
import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from cryptography.fernet import Fernet
from django.contrib.auth import HASH_SESSION_KEY
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.sessions.models import Session
from django.core import signing
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from backend.accounts.encryption import seed_decrypt
from backend.accounts.mail import mail_queue, mail_text
from backend.accounts.models import Mail, User
from backend.accounts.principal import Principal
from backend.platform import key_files, keys
from backend.platform.checks import needed_keys_are_known
from backend.platform.encryption import django_keys_follow
from backend.platform.keys import Keyring
from backend.platform.reencryption import keyed_columns, renew, versions_in_use
from billing.models import WebhookEndpoint
from billing.webhook_secrets import SecretUnreadable
from billing.webhooks.services import webhook_create
from safety.audit.models import StoredText
from safety.audit.services import RetainedText, decision_record
from safety.audit.texts import TextUnreadable
from safety.types import Action, SafetyDecision, text_digest
from tests.factories import UserFactory, member
from tests.support.second_factor import enrol

pytestmark = pytest.mark.django_db
TEXT = "What was retained."


@pytest.fixture(autouse=True)
def keys_file(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Keys on file, read at each use, and Django's signing put back afterwards."""
    monkeypatch.setattr(keys, "_REREAD_S", 0.0)
    before = settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS
    path = tmp_path / "keys"
    key_files.keys_file_ensure(path)
    settings.KEYRING = Keyring(file=path)
    django_keys_follow()
    yield path
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = before


def rotate(*arguments: str) -> str:
    written = io.StringIO()
    call_command("rotate_keys", *arguments, activation_seconds=0, stdout=written)
    return written.getvalue()


def webhook(caller: Principal) -> WebhookEndpoint:
    return webhook_create(principal=caller, url="https://example.com/", types=["invoice.issued"])


def retained(caller: Principal, text: str = TEXT) -> StoredText:
    decision = SafetyDecision(
        stage="prompt",
        action=Action.BLOCK,
        scores={},
        categories=["hate"],
        policy_version="default-1",
        latency_ms=1.0,
        layer="lexical",
        text_sha256=text_digest(text),
    )
    record = decision_record(
        decision=decision,
        organization_id=caller.organization_id,
        generation_id=uuid4(),
        user_id=caller.user_id,
        key_id=None,
        text=RetainedText(text, 7),
    )
    return StoredText.objects.select_related("decision").get(pk=record.pk)


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def signed_in_user(client: Client) -> Any:
    """Whom the stored session names, by the database alone."""
    cache.clear()
    return client.session.get("_auth_user_id")


def test_rotation_keeps_second_factors_and_mails(keys_file: Path) -> None:
    user = UserFactory.create()
    seed = enrol(user)
    recovery_codes = RecoveryCodes.activate(user).get_unused_codes()
    passkey = Authenticator.objects.create(
        user=user, type=Authenticator.Type.WEBAUTHN, data={"credential": {"id": "x"}}
    )
    mail_queue(to=user.email, kind="test", subject="A link", text=TEXT)
    sent = Mail.objects.create(to=user.email, kind="test", subject="Sent", ciphertext="")

    said = rotate()

    assert "second factors: 2 moved to version 2" in said
    assert "texts of mails: 1 moved to version 2" in said
    rotate("--drop", "1", "--end-links")
    stored = Authenticator.objects.get(user=user, type=Authenticator.Type.TOTP)
    assert seed_decrypt(stored.data["secret"]) == seed
    codes = Authenticator.objects.get(user=user, type=Authenticator.Type.RECOVERY_CODES).wrap()
    assert codes.get_unused_codes() == recovery_codes
    passkey.refresh_from_db()
    assert passkey.data == {"credential": {"id": "x"}}
    assert mail_text(Mail.objects.get(subject="A link")) == TEXT
    sent.refresh_from_db()
    assert mail_text(sent) == ""


def test_rotation_keeps_sessions_secrets_and_texts(keys_file: Path) -> None:
    caller, user = member(), UserFactory.create(password="a long password")
    client = signed_in(user)
    endpoint, text = webhook(caller), retained(caller)
    secret = endpoint.secret

    said = rotate()

    assert "Version 2 is listed" in said
    assert "webhook secrets: 1 moved to version 2" in said
    assert "retained texts: 1 moved to version 2" in said
    assert "sessions: 1 moved to version 2" in said
    assert "Version 1 is not needed" not in said, "links in mails may be signed by it"
    rotate("--drop", "1", "--end-links")
    assert "1:" not in keys_file.read_text()
    endpoint.refresh_from_db()
    assert endpoint.secret == secret
    assert StoredText.objects.get(pk=text.pk).text == TEXT
    assert signed_in_user(client) == str(user.pk)
    session = Session.objects.get()
    assert session.get_decoded()[HASH_SESSION_KEY] == user.get_session_auth_hash()


def test_second_rotation_and_interrupted_one_are_finished_by_the_next(keys_file: Path) -> None:
    caller = member()
    endpoints = [webhook(caller) for _ in range(7)]
    secrets = {endpoint.pk: endpoint.secret for endpoint in endpoints}
    key_files.key_add(keys_file, writes_from=0)
    [column] = [c for c in keyed_columns() if c.label == "webhook secrets"]
    fail_after = 4

    def fails_in_the_middle(endpoint: WebhookEndpoint) -> str:
        nonlocal fail_after
        fail_after -= 1
        if fail_after < 0:
            raise KeyboardInterrupt
        return renewed(endpoint)

    renewed = column.renewed
    with pytest.raises(KeyboardInterrupt):
        renew(replace(column, renewed=fails_in_the_middle), batch=2)
    assert versions_in_use(column) == {1: 3, 2: 4}
    assert "webhook secrets: 3 moved to version 2" in rotate("--no-new", "--batch-size", "2")
    assert {e.pk: e.secret for e in WebhookEndpoint.objects.all()} == secrets
    assert "webhook secrets: 0 moved" in rotate("--no-new")
    rotate()
    assert versions_in_use(column) == {3: 7}
    assert {e.pk: e.secret for e in WebhookEndpoint.objects.all()} == secrets


def test_value_that_is_written_meanwhile_wins(keys_file: Path) -> None:
    endpoint = webhook(member())
    key_files.key_add(keys_file, writes_from=0)
    [column] = [c for c in keyed_columns() if c.label == "webhook secrets"]
    renewed = column.renewed
    meanwhile = ""

    def overtaken(row: WebhookEndpoint) -> str:
        nonlocal meanwhile
        value = renewed(row)
        other = WebhookEndpoint.objects.get(pk=row.pk)
        other.secret_renew()
        other.save(update_fields=["encrypted_secret"])
        meanwhile = other.secret
        return str(value)

    assert renew(replace(column, renewed=overtaken)).replaced == 0
    endpoint.refresh_from_db()
    assert endpoint.secret == meanwhile


def test_version_that_something_still_needs_is_not_dropped(keys_file: Path) -> None:
    caller = member()
    webhook(caller)
    retained(caller)
    signed_in(UserFactory.create())
    key_files.key_add(keys_file, writes_from=0)
    with pytest.raises(CommandError) as refused:
        rotate("--drop", "1", "--end-links")
    for reason in ("1 sessions", "1 webhook secrets", "1 retained texts", "--no-new"):
        assert reason in str(refused.value)
    assert "1:" in keys_file.read_text()
    rotate("--no-new")
    rotate("--drop", "1", "--end-links")
    assert "1:" not in keys_file.read_text()


@pytest.mark.parametrize(("version", "said"), [("1", "writes"), ("7", "no key version 7")])
def test_version_that_writes_or_is_unknown_is_not_dropped(keys_file: Path, version, said) -> None:
    with pytest.raises(CommandError, match=said):
        rotate("--drop", version)


def test_version_that_signed_links_is_kept_while_they_work(keys_file: Path) -> None:
    rotate()
    with pytest.raises(CommandError, match="links in mails, until 20"):
        rotate("--drop", "1")
    lines = keys_file.read_text().splitlines()
    past = int(timezone.now().timestamp()) - 4 * 24 * 3600
    keys_file.write_text(
        "\n".join(line.split("@")[0] + (f"@{past}" if line[0] == "2" else "") for line in lines[2:])
    )
    assert "Version 1 is dropped" in rotate("--drop", "1")


def test_dropped_version_reads_and_signs_nothing(keys_file: Path, settings: Any) -> None:
    caller = member()
    endpoint, text = webhook(caller), retained(caller)
    leaked = keys_file.read_text()
    rotate()
    rotate("--drop", "1", "--end-links")
    old = keys_file.with_name("old")
    old.write_text(leaked)
    new, attacker = settings.KEYRING, Keyring(file=old)

    settings.KEYRING = attacker
    with pytest.raises(SecretUnreadable):
        _ = WebhookEndpoint.objects.get(pk=endpoint.pk).secret
    with pytest.raises(TextUnreadable):
        _ = StoredText.objects.get(pk=text.pk).text
    django_keys_follow()
    forged = signing.dumps("anybody")
    settings.KEYRING = new
    django_keys_follow()
    with pytest.raises(signing.BadSignature):
        signing.loads(forged)


def test_value_copied_from_another_organization_does_not_open(keys_file: Path) -> None:
    mine, theirs = webhook(member()), webhook(member())
    WebhookEndpoint.objects.filter(pk=mine.pk).update(encrypted_secret=theirs.encrypted_secret)
    with pytest.raises(SecretUnreadable):
        _ = WebhookEndpoint.objects.get(pk=mine.pk).secret
    caller = member()
    first, second = retained(caller, "one"), retained(caller, "two")
    StoredText.objects.filter(pk=first.pk).update(ciphertext=second.ciphertext)
    with pytest.raises(TextUnreadable):
        _ = StoredText.objects.get(pk=first.pk).text


def test_value_that_no_key_reads_is_left_and_reported(keys_file: Path) -> None:
    mine, theirs = webhook(member()), webhook(member())
    WebhookEndpoint.objects.filter(pk=mine.pk).update(encrypted_secret=theirs.encrypted_secret)
    with pytest.raises(SystemExit) as ended:
        rotate()
    assert ended.value.code == 1
    mine.refresh_from_db()
    assert mine.encrypted_secret == theirs.encrypted_secret


def test_secret_key_of_the_release_before_is_taken_over_and_dropped(
    keys_file: Path, settings: Any
) -> None:
    """Its Fernet values, its plain ones, and its sessions with a keyed password hash."""
    caller, user = member(), UserFactory.create(password="a long password")
    endpoint, text = webhook(caller), retained(caller)
    plain = webhook(caller)
    raw = "the one secret key of the release before"
    settings.KEYRING = Keyring(secret_key=raw)
    django_keys_follow()
    assert raw == settings.SECRET_KEY

    def legacy(words: bytes, value: str) -> bytes:
        key = base64.urlsafe_b64encode(hashlib.sha256(words + raw.encode()).digest())
        return Fernet(key).encrypt(value.encode())

    WebhookEndpoint.objects.filter(pk=endpoint.pk).update(
        encrypted_secret=legacy(b"parley.billing.webhook-secret:", "whsec_old").decode()
    )
    WebhookEndpoint.objects.filter(pk=plain.pk).update(encrypted_secret="whsec_plain")
    StoredText.objects.update(ciphertext=legacy(b"parley.safety.stored-text:", TEXT))
    client = signed_in(user)
    session = client.session
    session[HASH_SESSION_KEY] = AbstractBaseUser._get_session_auth_hash(user, secret=raw)  # type: ignore[attr-defined]
    session.save()

    settings.KEYRING = Keyring(file=keys_file, secret_key=raw)
    django_keys_follow()
    said = rotate("--no-new")
    assert "Version 0 is not needed" in said
    assert "unset it" in rotate("--drop", "0")

    settings.KEYRING = Keyring(file=keys_file)
    django_keys_follow()
    assert WebhookEndpoint.objects.get(pk=endpoint.pk).secret == "whsec_old"
    assert WebhookEndpoint.objects.get(pk=plain.pk).secret == "whsec_plain"
    assert StoredText.objects.get(pk=text.pk).text == TEXT
    assert signed_in_user(client) == str(user.pk)
    assert client.session[HASH_SESSION_KEY] == user.get_session_auth_hash()


def test_deployment_without_a_needed_version_is_refused_by_name(settings: Any) -> None:
    caller = member()
    webhook(caller)
    retained(caller)
    assert needed_keys_are_known(databases=["default"]) == []
    settings.KEYRING = Keyring(inline="2:" + "b" * 43)
    said = [error.msg for error in needed_keys_are_known(databases=["default"])]
    assert len(said) == 2
    assert all("key version 1, which PARLEY_KEYS no longer lists" in line for line in said)


def test_keys_from_the_environment_are_named_instead_of_written(settings: Any) -> None:
    settings.KEYRING = Keyring(inline="1:" + "a" * 43)
    with pytest.raises(CommandError, match=r"2:[\w-]{43}@\d+"):
        rotate()
    settings.KEYRING = Keyring(inline="1:" + "a" * 43 + ",2:" + "b" * 43)
    django_keys_follow()
    rotate("--no-new")
    assert "take its entry out of PARLEY_KEYS" in rotate("--drop", "1")
