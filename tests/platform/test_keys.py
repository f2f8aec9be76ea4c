"""The keyring: what it reads, which version writes, and that one purpose's key opens no other."""

import os
import time
from pathlib import Path
from uuid import uuid4

import pytest
from django.core import signing

from backend.platform import key_files, keys
from backend.platform.encryption import (
    Unreadable,
    decrypt,
    django_keys_follow,
    encrypt,
    keyed_hash,
    token_read,
    token_sign,
    version_of,
)
from backend.platform.keys import Keyring, KeyringError, Purpose, parse_keys

OLD, NEW = "1:" + "a" * 43, "2:" + "b" * 43


@pytest.fixture
def place() -> tuple[object, ...]:
    return (uuid4(), uuid4())


@pytest.mark.parametrize("text", ["é", "", "x" * 100_000, "\udc80 half", "v1.AAAA"])
def test_encrypted_text_is_read_again_and_not_seen(settings, place, text):
    settings.KEYRING = Keyring(inline=OLD)
    stored = encrypt(text, purpose=Purpose.STORED_TEXT, context=place)
    assert len(text) < 4 or text not in stored
    assert decrypt(stored, purpose=Purpose.STORED_TEXT, context=place) == text
    assert encrypt(text, purpose=Purpose.STORED_TEXT, context=place) != stored


def test_ciphertext_opens_under_its_own_purpose_organization_and_row_only(settings, place):
    settings.KEYRING = Keyring(inline=f"{OLD},{NEW}")
    stored = encrypt("secret", purpose=Purpose.WEBHOOK_SECRET, context=place)
    organization, row = place
    elsewhere = [
        (Purpose.STORED_TEXT, place),
        (Purpose.WEBHOOK_SECRET, (uuid4(), row)),
        (Purpose.WEBHOOK_SECRET, (organization, uuid4())),
        (Purpose.WEBHOOK_SECRET, (row, organization)),
        (Purpose.WEBHOOK_SECRET, (f"{organization}, {row}",)),
        (Purpose.WEBHOOK_SECRET, ()),
    ]
    for purpose, context in elsewhere:
        with pytest.raises(Unreadable):
            decrypt(stored, purpose=purpose, context=context)
    assert decrypt(stored, purpose=Purpose.WEBHOOK_SECRET, context=place) == "secret"


def test_changed_ciphertext_is_refused_at_every_byte(settings, place):
    settings.KEYRING = Keyring(inline=f"{OLD},{NEW}")
    stored = encrypt("secret", purpose=Purpose.STORED_TEXT, context=place)
    for position in range(len(stored)):
        other = "A" if stored[position] != "A" else "B"
        changed = stored[:position] + other + stored[position + 1 :]
        with pytest.raises(Unreadable):
            decrypt(changed, purpose=Purpose.STORED_TEXT, context=place)
    for broken in ("", "v2.", "v2.A", "v2.====", "v999999999.AAAA", stored[:20], stored + "A" * 4):
        with pytest.raises(Unreadable):
            decrypt(broken, purpose=Purpose.STORED_TEXT, context=place)


def test_ciphertext_relabelled_with_another_version_is_refused(settings, place):
    settings.KEYRING = Keyring(inline=f"1:{'a' * 43},2:{'a' * 43}")  # even with the same secret
    stored = encrypt("secret", purpose=Purpose.STORED_TEXT, context=place)
    assert stored.startswith("v2.")
    with pytest.raises(Unreadable):
        decrypt("v1." + stored[3:], purpose=Purpose.STORED_TEXT, context=place)


def test_newest_writes_and_older_read_until_dropped(settings, place):
    settings.KEYRING = Keyring(inline=OLD)
    stored = encrypt("secret", purpose=Purpose.STORED_TEXT, context=place)
    settings.KEYRING = Keyring(inline=f"{NEW},{OLD}")
    assert decrypt(stored, purpose=Purpose.STORED_TEXT, context=place) == "secret"
    assert version_of(encrypt("x", purpose=Purpose.STORED_TEXT, context=place)) == 2
    settings.KEYRING = Keyring(inline=NEW)
    with pytest.raises(Unreadable, match="version 1"):
        decrypt(stored, purpose=Purpose.STORED_TEXT, context=place)


def test_every_purpose_and_version_has_a_key_of_its_own():
    ring = Keyring(inline=f"{OLD},{NEW}", secret_key="c" * 50)
    made = [ring.key(purpose, version) for purpose in Purpose for version in ring.versions()]
    assert len(set(made)) == len(made) == len(Purpose) * 3
    assert all(len(key) == 32 for key in made)


def test_listed_version_reads_at_once_and_writes_from_its_time():
    now = int(time.time())
    ring = Keyring(inline=f"{OLD},{NEW}@{now + 60}")
    assert ring.writing() == 1
    assert ring.writing(now + 61) == 2
    assert len(ring.key(Purpose.SIGNING, 2)) == 32


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ("nonsense", "Entry 1"),
        (f"{OLD},0:{'b' * 43}", "Entry 2"),
        (f"{OLD}@soon", "Entry 1"),
        ("1:short", "version 1 has 5 characters"),
        (f"{OLD}\n{OLD}", "listed twice"),
        ("# nothing", "not set"),
        ("", "not set"),
    ],
)
def test_wrong_keys_are_named_without_their_secret(entries, said):
    with pytest.raises(KeyringError, match=said) as refused:
        Keyring(inline=entries)
    assert "short" not in str(refused.value).replace("shorter", "")
    assert "a" * 10 not in str(refused.value)


def test_secrets_are_not_in_what_is_logged():
    ring = Keyring(inline=OLD, secret_key="s" * 40)
    assert "a" * 10 not in repr(ring) + repr(list(ring.versions().values()))
    assert "s" * 10 not in repr(ring) + repr(list(ring.versions().values()))


def test_file_is_private_and_read_again_when_it_changes(tmp_path, monkeypatch):
    path = tmp_path / "keys"
    key_files.keys_file_ensure(path)
    ring = Keyring(file=path)
    assert sorted(ring.versions()) == [1]
    added = key_files.key_add(path, writes_from=0)
    assert path.stat().st_mode & 0o777 == 0o600
    monkeypatch.setattr(keys, "_REREAD_S", 0.0)
    assert ring.writing() == added.version == 2
    assert ring.key(Purpose.SIGNING) == Keyring(file=path).key(Purpose.SIGNING, 2)
    key_files.key_remove(path, 1)
    assert sorted(ring.versions()) == [2]
    with pytest.raises(KeyringError, match="no key version 1"):
        key_files.key_remove(path, 1)


def test_version_that_another_process_added_is_found_at_once(tmp_path):
    path = tmp_path / "keys"
    key_files.keys_file_ensure(path)
    ring = Keyring(file=path)
    key_files.key_add(path, writes_from=int(time.time()) + 60)
    assert len(ring.key(Purpose.STORED_TEXT, 2)) == 32
    with pytest.raises(KeyError):
        ring.key(Purpose.STORED_TEXT, 3)


def test_damaged_file_leaves_the_keys_that_were_read(tmp_path, monkeypatch):
    path = tmp_path / "keys"
    key_files.keys_file_ensure(path)
    ring = Keyring(file=path)
    monkeypatch.setattr(keys, "_REREAD_S", 0.0)
    path.write_text("damaged")
    assert sorted(ring.versions()) == [1]
    path.unlink()
    assert sorted(ring.versions()) == [1]
    with pytest.raises((KeyringError, OSError)):
        Keyring(file=path)


def test_two_writers_of_the_file_lose_nothing(tmp_path):
    path = tmp_path / "keys"
    key_files.keys_file_ensure(path)
    children = []
    for _ in range(6):
        if not (child := os.fork()):
            key_files.key_add(Path(path), writes_from=0)
            os._exit(0)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 6
    assert sorted(parse_keys(path.read_text())) == [1, 2, 3, 4, 5, 6, 7]


def test_token_is_refused_when_old_or_of_another_purpose_or_dropped_version(settings):
    settings.KEYRING = Keyring(inline=OLD)
    token = token_sign({"a": 1}, purpose=Purpose.DEVICE)
    assert token_read(token, purpose=Purpose.DEVICE, max_age_s=60) == {"a": 1}
    with pytest.raises(signing.BadSignature):
        token_read(token, purpose=Purpose.INTERNAL_CALL, max_age_s=60)
    with pytest.raises(signing.SignatureExpired):
        token_read(token, purpose=Purpose.DEVICE, max_age_s=-1)
    settings.KEYRING = Keyring(inline=f"{OLD},{NEW}")
    assert token_read(token, purpose=Purpose.DEVICE, max_age_s=60) == {"a": 1}
    settings.KEYRING = Keyring(inline=NEW)
    with pytest.raises(signing.BadSignature):
        token_read(token, purpose=Purpose.DEVICE, max_age_s=60)


def test_keyed_hash_has_256_bits_and_needs_the_key(settings):
    settings.KEYRING = Keyring(inline=OLD)
    hashed = keyed_hash("198.51.100.7", purpose=Purpose.CLIENT_ADDRESS)
    assert len(bytes.fromhex(hashed)) == 32
    settings.KEYRING = Keyring(inline=NEW)
    assert keyed_hash("198.51.100.7", purpose=Purpose.CLIENT_ADDRESS) != hashed


def test_token_signed_by_another_algorithm_is_refused(settings):
    settings.KEYRING = Keyring(inline=OLD)
    key, salt = settings.KEYRING.text_key(Purpose.DEVICE), f"parley.{Purpose.DEVICE}"
    for algorithm, is_read in (("sha256", True), ("sha1", False), ("md5", False)):
        signer = signing.TimestampSigner(key=key, salt=salt, algorithm=algorithm)
        token = signer.sign_object({"a": 1}, serializer=signing.JSONSerializer)
        try:
            read = token_read(token, purpose=Purpose.DEVICE, max_age_s=60)
        except signing.BadSignature:
            read = None
        assert (read == {"a": 1}) is is_read, algorithm


def test_djangos_signing_follows_the_version_that_writes(settings):
    settings.KEYRING = Keyring(inline=OLD)
    django_keys_follow()
    before = signing.dumps("of before")
    settings.KEYRING = Keyring(inline=f"{OLD},{NEW}")
    django_keys_follow()
    after = signing.dumps("of after")
    assert (signing.loads(before), signing.loads(after)) == ("of before", "of after")
    settings.KEYRING = Keyring(inline=NEW)
    django_keys_follow()
    assert signing.loads(after) == "of after"
    with pytest.raises(signing.BadSignature):
        signing.loads(before)


def test_process_that_does_not_write_with_the_new_version_yet_reads_it(settings):
    soon = int(time.time()) + 60
    settings.KEYRING = Keyring(inline=f"{OLD},{NEW}")
    django_keys_follow()
    signed = signing.dumps("by a process ahead")
    settings.KEYRING = Keyring(inline=f"{OLD},{NEW}@{soon}")
    django_keys_follow()
    assert signing.loads(signed) == "by a process ahead"
