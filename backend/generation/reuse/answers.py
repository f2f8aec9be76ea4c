"""Stored answers: the only writer and reader of `CachedAnswer`, and its purge.

An answer is encrypted for its organization and digest, so a row that is copied to another
organization's does not decrypt. It is used until its lifetime is over, and kept no longer than the
organization, the project and the call itself keep anything; a legal hold keeps it, unused.
"""

from datetime import timedelta
from uuid import UUID

import msgspec
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from backend.accounts.data_policy import retention_ends
from backend.accounts.legal_hold import without_held
from backend.accounts.models import AnswerCache, DataPolicy
from backend.accounts.principal import Principal
from backend.conversations.models import Conversation
from backend.generation.models import CachedAnswer, Generation
from backend.generation.reuse.plan import ReusableAnswer
from backend.platform.encryption import Unreadable, decrypt, encrypt
from backend.platform.keys import Purpose
from backend.platform.pages import delete_in_pages
from backend.platform.reencryption import encrypted_column

_HELD = {"organization": "organization_id", "user": "user_id"}
_NEWER = [
    "project", "user", "generation_id", "model", "revision", "ciphertext", "created_at",
    "expires_at",
]  # fmt: skip


def answer_get(
    *, organization_id: UUID, digest: str, revision: str | None
) -> ReusableAnswer | None:
    """The answer that is stored for a digest of this organization, while its lifetime lasts.

    Args:
        revision: of the model that must have computed it; None: whichever did so last.
    """
    rows = CachedAnswer.objects.filter(
        organization_id=organization_id, digest=digest, expires_at__gt=timezone.now()
    )
    row = (rows if revision is None else rows.filter(revision=revision)).first()
    return None if row is None else answer_of(row)


def answer_of(row: CachedAnswer) -> ReusableAnswer | None:
    """None where it cannot be read: its key version was dropped, or it is of another place."""
    try:
        text = decrypt(row.ciphertext, purpose=Purpose.ANSWER_CACHE, context=_place(row))
    except Unreadable:
        return None
    return msgspec.json.decode(text, type=ReusableAnswer)


def answer_store(
    *,
    principal: Principal,
    generation_id: UUID,
    model: str,
    digest: str,
    revision: str,
    answer: ReusableAnswer,
    lifetime: timedelta,
) -> None:
    """Store an answer in the place of what its digest had."""
    now = timezone.now()
    row = CachedAnswer(
        organization_id=principal.organization_id,
        project_id=principal.project_id,
        user_id=principal.user_id,
        generation_id=generation_id,
        model=model,
        digest=digest,
        revision=revision,
        ciphertext=_sealed(msgspec.json.encode(answer), principal.organization_id, digest),
        created_at=now,
        expires_at=now + lifetime,
    )
    CachedAnswer.objects.bulk_create(
        [row], update_conflicts=True, unique_fields=["organization", "digest"], update_fields=_NEWER
    )


def answer_forget(*, generation_id: UUID) -> None:
    """Its caller has deleted the answer that this generation computed."""
    CachedAnswer.objects.filter(generation_id=generation_id).delete()


def answers_purge() -> int:
    """Delete what is not used any more, what was answered in chats that are deleted, and what is
    kept for longer than its owners want; how many."""
    now = timezone.now()
    off = DataPolicy.objects.filter(answer_cache=AnswerCache.OFF).values("pk")
    has_policy = DataPolicy.objects.values("pk")
    unused = (
        Q(expires_at__lte=now) | Q(organization_id__in=off) | ~Q(organization_id__in=has_policy)
    )
    kept_chats = Conversation.objects.filter(pk=OuterRef("conversation_id"), deleted_at=None)
    in_deleted_chats = Generation.objects.filter(
        ~Exists(kept_chats), pk=OuterRef("generation_id"), conversation_id__isnull=False
    )
    deleted = _delete(unused | Q(Exists(in_deleted_chats)))
    for whose, before in retention_ends(now=now):
        deleted += _delete(Q(**whose, created_at__lt=before))
    return deleted


def _delete(which: Q) -> int:
    rows = without_held(CachedAnswer.objects.filter(which), **_HELD)
    return delete_in_pages(rows)


def _place(row: CachedAnswer) -> tuple[UUID, str]:
    return row.organization_id, row.digest


def _sealed(text: bytes, organization_id: UUID, digest: str) -> str:
    return encrypt(text.decode(), purpose=Purpose.ANSWER_CACHE, context=(organization_id, digest))


ANSWERS = encrypted_column(
    label="stored answers",
    model="generation.CachedAnswer",
    field="ciphertext",
    purpose=Purpose.ANSWER_CACHE,
    context=("organization_id", "digest"),
)
