"""What the operator has to say: shown above the page for a time, until its reader closes it."""

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from backend.accounts.models import Announcement, AnnouncementDismissal
from backend.accounts.principal import Principal
from backend.platform.errors import Conflict, NotFound

MAX_SHOWN = 5


def announcements_for(*, principal: Principal) -> list[Announcement]:
    """Those in force for the caller's plan that they have not closed, newest first."""
    closed = AnnouncementDismissal.objects.filter(
        announcement=OuterRef("pk"), user_id=principal.user_id
    )
    return list(_in_force(principal).exclude(Exists(closed))[:MAX_SHOWN])


def announcement_dismiss(*, principal: Principal, announcement_id: int) -> None:
    """Do not show it to the caller again; twice is fine.

    Raises:
        NotFound: none of theirs. Conflict: it cannot be closed.
    """
    found = _in_force(principal).filter(pk=announcement_id).first()
    if found is None:
        raise NotFound(f"There is no announcement {announcement_id}.")
    if not found.is_dismissible:
        raise Conflict("This announcement stays until it ends.", code="not_dismissible")
    AnnouncementDismissal.objects.get_or_create(announcement=found, user_id=principal.user_id)


def _in_force(principal: Principal) -> QuerySet[Announcement]:
    now = timezone.now()
    return (
        Announcement.objects.filter(Q(ends_at=None) | Q(ends_at__gt=now), starts_at__lte=now)
        .filter(Q(plans=None) | Q(plans=principal.plan.slug))
        .order_by("-starts_at", "-pk")
        .distinct()
    )
