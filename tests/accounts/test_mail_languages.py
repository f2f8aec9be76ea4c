"""Every mail about an account is in its reader's language."""

from typing import Any

import pytest

from backend.accounts.addresses import (
    address_change_begin,
    address_confirm,
    address_verification_send,
)
from backend.accounts.deletion import user_delete
from backend.accounts.invitations import invitation_create
from backend.accounts.mail import mail_text
from backend.accounts.models import Mail, Organization, Role, User
from backend.accounts.operator_models import SuspensionCause
from backend.accounts.passwords import password_change, password_reset_begin
from backend.accounts.second_factors import passkey_added, second_factors_reset
from backend.accounts.sign_up import sign_up_begin, sign_up_complete
from backend.accounts.suspension import reinstate_organization, suspend_organization
from backend.rights.jobs import jobs_run
from backend.rights.models import Erasure
from backend.rights.requests import export_request, user_erase
from tests.factories import UserFactory, member
from tests.support.languages import in_languages
from tests.support.written import is_written_in

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery staple"


def token_of(mail: Mail) -> str:
    return mail_text(mail).partition("#")[2].split()[0]


def assert_written_in(tag: str, kinds: set[str]) -> None:
    """All mails that were queued are of these kinds and in this language, with their links."""
    mails = list(Mail.objects.order_by("pk"))
    assert {mail.kind for mail in mails} == kinds
    for mail in mails:
        text = mail_text(mail)
        assert is_written_in(f"{mail.subject}\n{text}", tag), text
        assert mail.subject.isascii() is False or tag not in ("ja", "zh-CN", "ar")
        assert "%(" not in text and "%(" not in mail.subject


@in_languages("tests/accounts/test_mail_languages.py::test_mails_about_an_account")
def test_mails_about_an_account(tag: str) -> None:
    user = UserFactory.create(language=tag)
    User.objects.create_user("taken@example.org", language=tag)
    address_verification_send(user=user)
    password_change(user_id=user.pk, password=PASSWORD, session_key=None)
    password_reset_begin(email=user.email)
    passkey_added(user=user)
    second_factors_reset(user=user)
    address_change_begin(user_id=user.pk, email="taken@example.org")
    address_change_begin(user_id=user.pk, email="new@example.org")
    token = token_of(Mail.objects.get(to="new@example.org"))
    address_confirm(token=token, kept=None, password=PASSWORD)
    user_delete(user_id=user.pk)
    assert_written_in(
        tag,
        {"verify_address", "password_changed", "reset_password", "second_factor"}
        | {"change_address", "address_change_begun", "address_changed", "account_deleted"},
    )


@in_languages(
    "tests/accounts/test_mail_languages.py::test_mails_to_who_has_no_account_are_in_the_askers_language"
)
def test_mails_to_who_has_no_account_are_in_the_askers_language(tag: str) -> None:
    UserFactory.create(email="known@example.org", language=tag)
    for email in ("new@example.org", "known@example.org"):
        sign_up_begin(email=email, password=PASSWORD, language=tag)
    password_reset_begin(email="nobody@example.org", language=tag)
    assert_written_in(tag, {"sign_up", "reset_password"})
    user = sign_up_complete(
        token=token_of(Mail.objects.get(to="new@example.org")), kept=None, password=PASSWORD
    )
    assert user.language == tag


@in_languages(
    "tests/accounts/test_mail_languages.py::test_invitations_are_in_the_language_of_who_invites"
)
def test_invitations_are_in_the_language_of_who_invites(tag: str) -> None:
    invitation_create(principal=member(language=tag), role=Role.FINANCE, email="ada@example.org")
    assert_written_in(tag, {"invitation"})
    assert tag == "en" or " finance" not in mail_text(Mail.objects.get())


@in_languages(
    "tests/accounts/test_mail_languages.py::test_owners_learn_of_a_suspension_each_in_their_language"
)
def test_owners_learn_of_a_suspension_each_in_their_language(tag: str) -> None:
    caller = member(language=tag)
    organization = Organization.objects.get(pk=caller.organization_id)
    french = member(organization=organization, language="fr")
    suspend_organization(organization_id=organization.pk, reason="1234")
    reinstate_organization(organization_id=organization.pk, cause=SuspensionCause.OPERATOR)
    to_french = Mail.objects.filter(to=User.objects.get(pk=french.user_id).email)
    assert all(is_written_in(mail_text(mail), "fr") for mail in to_french)
    to_french.delete()
    assert_written_in(tag, {"suspension"})


@in_languages(
    "tests/accounts/test_mail_languages.py::test_data_and_its_erasure_are_certified_in_the_language_of_the_account"
)
def test_data_and_its_erasure_are_certified_in_the_language_of_the_account(
    tag: str, settings: Any, tmp_path: Any
) -> None:
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": str(tmp_path)},
        },
    }
    caller = member(language=tag)
    export_request(principal=caller)
    jobs_run()
    assert_written_in(tag, {"export"})
    erasure = user_erase(user_id=caller.user_id)
    jobs_run()
    assert_written_in(tag, {"account_deleted", "erasure"})
    certified = Erasure.objects.get(pk=erasure.pk)
    assert certified.language == "" and certified.certificate is not None
    assert certified.certificate["verified"].startswith("Every table")
