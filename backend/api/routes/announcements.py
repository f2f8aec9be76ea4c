"""`/api/announcements`: what the operator of the installation has to say."""

from ninja import Router, Status

from backend.accounts.announcements import announcement_dismiss, announcements_for
from backend.accounts.principal import AuthenticatedRequest
from backend.api.schemas.operators import AnnouncementListOut, AnnouncementOut
from backend.platform.database import in_database

router = Router(tags=["account"])


@router.get("", response=AnnouncementListOut)
async def list_announcements(request: AuthenticatedRequest) -> AnnouncementListOut:
    """Those in force that the caller has not closed, newest first; five at most."""
    rows = await in_database(announcements_for, principal=request.auth)
    return AnnouncementListOut(
        data=[
            AnnouncementOut(
                id=row.pk,
                title=row.title,
                text=row.text,
                link=row.link or None,
                tone=row.tone,
                dismissible=row.is_dismissible,
            )
            for row in rows
        ]
    )


@router.post("/{int:announcement_id}/dismiss", response={204: None})
async def dismiss_announcement(request: AuthenticatedRequest, announcement_id: int) -> Status:
    """Do not show it to the caller again. Twice is fine."""
    await in_database(announcement_dismiss, principal=request.auth, announcement_id=announcement_id)
    return Status(204, None)
