"""Versions of the terms and policies, and who accepted which.

Of each kind the newest version in force is asked for, once, at a user's next use of the page: until
they have accepted it their sessions are refused with `terms_not_accepted`, but for their account
and their data. API keys go on: an application must not stop at night because a text has changed.
"""

import time
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from backend.accounts.models import TermsAcceptance, TermsVersion
from backend.platform.errors import InvalidRequest, TermsNotAccepted

CACHE_S = 5.0
_newest: tuple[float, list[int]] | None = None


def terms_pending(*, user_id: UUID) -> list[TermsVersion]:
    """What the user has still to accept, by kind."""
    accepted = TermsAcceptance.objects.filter(version=OuterRef("pk"), user_id=user_id)
    return list(
        TermsVersion.objects.filter(pk__in=_in_force()).exclude(Exists(accepted)).order_by("kind")
    )


def refuse_without_terms(user_id: UUID) -> None:
    """Raises TermsNotAccepted. No query where there are no terms, at most CACHE_S old."""
    if not _in_force():
        return
    pending = terms_pending(user_id=user_id)
    if pending:
        names = ", ".join(str(version) for version in pending)
        raise TermsNotAccepted(f"Accept {names} first; the page asks for it.")


@transaction.atomic
def terms_accept(*, user_id: UUID, version_ids: list[int], address: str | None) -> None:
    """Record that the user accepts these versions; twice is fine.

    Raises InvalidRequest: one of them is not asked for.
    """
    unknown = sorted(set(version_ids) - set(_newest_versions().values_list("pk", flat=True)))
    if unknown:
        raise InvalidRequest(f"Version {unknown[0]} is not in force.", param="versions")
    TermsAcceptance.objects.bulk_create(
        [
            TermsAcceptance(version_id=version_id, user_id=user_id, address=address)
            for version_id in sorted(set(version_ids))
        ],
        ignore_conflicts=True,
    )


def terms_cache_clear() -> None:
    """Forget what this process knows to be in force (the admin shows its change at once)."""
    global _newest
    _newest = None


def _in_force() -> list[int]:
    global _newest
    now = time.monotonic()
    if _newest is None or now - _newest[0] > CACHE_S:
        _newest = (now, list(_newest_versions().values_list("pk", flat=True)))
    return _newest[1]


def _newest_versions() -> QuerySet[TermsVersion]:
    return (
        TermsVersion.objects.filter(effective_at__lte=timezone.now())
        .order_by("kind", "-effective_at", "-pk")
        .distinct("kind")
    )
