"""Sign-up policy, access to models, announcements, terms: as the admin's rows say."""

from datetime import timedelta

import pytest
from django.utils import timezone

from backend.accounts import model_access, terms
from backend.accounts.announcements import announcement_dismiss, announcements_for
from backend.accounts.authentication import principal_for_session
from backend.accounts.invitations import invitation_create
from backend.accounts.models import (
    Announcement,
    ModelAccess,
    PendingSignUp,
    Plan,
    SignUpPolicy,
    TermsAcceptance,
    TermsVersion,
    User,
)
from backend.accounts.operator_models import SignUpMode, TermsKind
from backend.accounts.sign_up import sign_up_begin
from backend.generation.pools.access import pool_for, pools_for
from backend.platform.database import in_database
from backend.platform.errors import (
    Conflict,
    InvalidRequest,
    ModelNotFound,
    NotFound,
    PermissionDenied,
    TermsNotAccepted,
)
from tests.factories import MODEL, member
from tests.support.gateway import pools_of

pytestmark = pytest.mark.django_db(transaction=True)

PASSWORD = "correct horse battery staple"


@pytest.fixture(autouse=True)
def nothing_cached() -> None:
    model_access.model_rules_clear()
    terms.terms_cache_clear()


@pytest.mark.parametrize(
    ("mode", "email", "code"),
    [
        (SignUpMode.OPEN, "a@elsewhere.org", None),
        (SignUpMode.INVITATION, "a@example.org", "signup_by_invitation"),
        (SignUpMode.DOMAIN, "a@Example.org", None),
        (SignUpMode.DOMAIN, "a@sub.example.org", "signup_domain"),
        (SignUpMode.DOMAIN, "a@example.org.elsewhere.org", "signup_domain"),
    ],
)
def test_sign_up_follows_the_policy(mode: str, email: str, code: str | None) -> None:
    SignUpPolicy.objects.create(mode=mode, domains=[" @EXAMPLE.org"])
    if code is None:
        sign_up_begin(email=email, password=PASSWORD)
    else:
        with pytest.raises(PermissionDenied) as refused:
            sign_up_begin(email=email, password=PASSWORD)
        assert refused.value.code == code
        assert not PendingSignUp.objects.exists()
        _, url = invitation_create(principal=member(), role="member")
        sign_up_begin(email=email, password=PASSWORD, invitation=url.partition("#")[2])
    assert PendingSignUp.objects.get().email == email.lower()


async def test_model_is_open_to_whom_the_most_specific_rule_says() -> None:
    pools = pools_of()
    one, other = await in_database(member), await in_database(member)

    async def allow(is_allowed: bool, **scope: object) -> None:
        await in_database(ModelAccess.objects.create, model=MODEL, is_allowed=is_allowed, **scope)
        model_access.model_rules_clear()

    async def may() -> list[bool]:
        return [bool(await pools_for(pools, principal)) for principal in (one, other)]

    assert await may() == [True, True]
    await allow(False)
    assert await may() == [False, False]
    await allow(True, plan_id="free")
    assert await may() == [True, True]
    await allow(False, organization_id=one.organization_id)
    assert await may() == [False, True]
    with pytest.raises(ModelNotFound) as refused:
        await pool_for(pools, "auto", one)  # by no other name either
    assert (refused.value.code, refused.value.param) == ("model_not_found", "model")
    assert (await pool_for(pools, "auto", other)).id == MODEL


def test_announcements_are_shown_in_their_time_to_their_plans_until_closed() -> None:
    principal, now = member(), timezone.now()
    for_all = Announcement.objects.create(title="Maintenance on Sunday")
    lasting = Announcement.objects.create(title="Read-only", is_dismissible=False)
    Announcement.objects.create(title="Over", ends_at=now)
    Announcement.objects.create(title="Later", starts_at=now + timedelta(hours=1))
    premium = Announcement.objects.create(title="New for premium")
    premium.plans.set(Plan.objects.filter(slug="premium"))

    def shown() -> list[str]:
        return [row.title for row in announcements_for(principal=principal)]

    assert shown() == ["Read-only", "Maintenance on Sunday"]
    for _ in range(2):
        announcement_dismiss(principal=principal, announcement_id=for_all.pk)
    assert shown() == ["Read-only"]
    assert len(announcements_for(principal=member())) == 2
    with pytest.raises(Conflict):
        announcement_dismiss(principal=principal, announcement_id=lasting.pk)
    with pytest.raises(NotFound):
        announcement_dismiss(principal=principal, announcement_id=premium.pk)


async def test_sessions_wait_until_the_newest_terms_are_accepted() -> None:
    principal = await in_database(member)
    user = await in_database(User.objects.get, pk=principal.user_id)
    now = timezone.now()

    async def publish(version: str, *, at: timedelta = timedelta()) -> TermsVersion:
        row = await in_database(
            TermsVersion.objects.create,
            kind=TermsKind.TERMS,
            version=version,
            link="https://example.org/terms",
            effective_at=now + at,
        )
        terms.terms_cache_clear()
        return row

    old = await publish("1", at=-timedelta(days=1))
    newest = await publish("2")
    await publish("3", at=timedelta(hours=1))
    with pytest.raises(TermsNotAccepted, match="terms of service 2"):
        await principal_for_session(user, None)
    await principal_for_session(user, None, gate=False)

    for refused in (old.pk, 0):
        with pytest.raises(InvalidRequest) as error:
            await in_database(
                terms.terms_accept, user_id=user.pk, version_ids=[refused], address=None
            )
        assert error.value.param == "versions"
    for _ in range(2):
        await in_database(
            terms.terms_accept, user_id=user.pk, version_ids=[newest.pk], address="192.0.2.7"
        )
    await principal_for_session(user, None)
    recorded = await in_database(TermsAcceptance.objects.get)
    assert (recorded.version_id, recorded.address) == (newest.pk, "192.0.2.7")
    assert recorded.accepted_at is not None
