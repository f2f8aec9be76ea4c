"""An erasure beside a sign-up with the same address, and again after a restored backup."""

import shutil
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from backend.accounts.legal_hold import legal_hold_begin, legal_hold_end
from backend.accounts.mail import mail_text
from backend.accounts.models import LegalHold, Mail, Organization, PendingSignUp, User
from backend.accounts.sign_up import sign_up_begin, sign_up_complete
from backend.conversations.models import Conversation
from backend.rights.erasure import counts_of
from backend.rights.jobs import jobs_run
from backend.rights.models import Erasure, JobState
from backend.rights.requests import organization_erase, user_erase
from backend.rights.subject import Subject
from tests.factories import member
from tests.rights.test_erasure import files, furnish, tables_with

__all__ = ["files"]
pytestmark = pytest.mark.django_db


# --- A sign-up with the same address ---------------------------------------------------------


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("first", ["erasure", "sign_up"])
def test_sign_up_with_an_address_that_is_being_erased_is_of_before_or_of_after(
    settings: Any, first: str
) -> None:
    settings.OUTBOX_TOKEN = "outbox"
    principal = member()
    address = User.objects.get(pk=principal.user_id).email
    holds, may_end = threading.Event(), threading.Event()

    def erase() -> None:
        user_erase(user_id=principal.user_id)

    def begin() -> None:
        sign_up_begin(email=address, password="correct horse battery staple")

    def in_a_transaction(function: Callable[[], None]) -> None:
        try:
            with transaction.atomic():
                function()
                holds.set()
                assert may_end.wait(30)
        finally:
            connection.close()

    def afterwards(function: Callable[[], None]) -> None:
        try:
            function()
        finally:
            connection.close()

    one, other = (erase, begin) if first == "erasure" else (begin, erase)
    with ThreadPoolExecutor(2) as pool:
        earlier = pool.submit(in_a_transaction, one)
        assert holds.wait(30)
        later = pool.submit(afterwards, other)
        wait_for_a_lock()
        may_end.set()
        earlier.result(), later.result()
    jobs_run()
    pending = PendingSignUp.objects.filter(email=address)
    mails = [mail_text(mail) for mail in Mail.objects.filter(to=address, kind="sign_up")]
    assert Erasure.objects.get(kind="user").state == JobState.DONE
    if first == "sign_up":
        assert (list(pending), mails) == ([], [])
        return
    [text] = mails
    token = text.split("/confirm-sign-up#")[1].split()[0]
    user = sign_up_complete(token=token, kept=pending.get().token_sha256, password=None)
    assert user.email == address and user.pk != principal.user_id


def wait_for_a_lock() -> None:
    """Until another connection of this database waits for an advisory lock."""
    for _ in range(3000):
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT 1 FROM pg_locks l JOIN pg_database d ON d.oid = l.database"
                " WHERE d.datname = current_database() AND locktype = 'advisory' AND NOT granted"
            )
            if cursor.fetchone():
                return
        time.sleep(0.01)
    raise AssertionError("nobody waits")


# --- After a restored backup -----------------------------------------------------------------


def test_erasures_younger_than_a_backup_are_repeated_after_its_restore(
    files: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    gone, other = member(name="Grace Okapi"), member()
    organization = member()
    colleague = member(
        organization=Organization.objects.get(pk=organization.organization_id), role="member"
    )
    held = member()
    for one in (gone, other, organization, held):
        furnish(one)
    others_before = counts_of(Subject("user", other.user_id))
    copy = tmp_path_factory.mktemp("backup") / "files"
    shutil.copytree(files, copy)
    backup = transaction.savepoint()
    user_erase(user_id=gone.user_id)
    organization_erase(organization_id=organization.organization_id)
    user_erase(user_id=held.user_id)
    assert jobs_run() == 5
    # The restore: the database is what it was, and so are the files.
    transaction.savepoint_rollback(backup)
    shutil.rmtree(files)
    shutil.copytree(copy, files)
    assert Conversation.objects.filter(user_id=gone.user_id).exists()
    legal_hold_begin(reason="Court", user_id=held.user_id)
    with pytest.raises(CommandError, match=str(held.user_id)):
        call_command(
            "repeat_erasures",
            *(f"--user={one.user_id}" for one in (held, gone)),
            f"--organization={organization.organization_id}",
        )
    assert not Conversation.objects.filter(user_id=gone.user_id).exists()
    assert tables_with("Okapi") == []
    assert not User.objects.get(pk=gone.user_id).is_active
    left = {row.user_id for row in Conversation.objects.all()}
    assert left == {other.user_id, held.user_id}
    assert len([path for path in files.rglob("*") if path.is_file()]) == len(left)
    # Who was in the organization keeps the account, with a new one of their own.
    for one in (organization, colleague):
        assert User.objects.get(pk=one.user_id).memberships.get().organization_id not in (
            organization.organization_id,
        )
    assert counts_of(Subject("user", other.user_id)) == others_before

    # Once the hold has ended: of all that the database knows, those that were done are repeated.
    legal_hold_end(hold=LegalHold.objects.get())
    call_command("repeat_erasures", f"--user={held.user_id}")
    assert {row.user_id for row in Conversation.objects.all()} == {other.user_id}
    call_command("repeat_erasures")
    assert not Erasure.objects.exclude(state=JobState.DONE).exists()
