"""The files of an export in the storage: all in a folder of its own, which is deleted whole."""

from contextlib import suppress
from uuid import UUID

import structlog
from django.core.files.storage import default_storage
from django.db.models import Q

from backend.rights.models import UNFINISHED, DataExport

log = structlog.get_logger(__name__)
_ALL = "exports"


def export_folder(export_id: UUID) -> str:
    return f"{_ALL}/{export_id}"


def folder_delete(folder: str) -> int:
    """Delete the files of a folder, whether a row names them or not. Returns how many."""
    try:
        _, names = default_storage.listdir(folder)
    except FileNotFoundError:
        return 0
    for name in names:
        default_storage.delete(f"{folder}/{name}")
    with suppress(OSError):  # a file came meanwhile
        default_storage.delete(folder)
    return len(names)


def exports_sweep() -> int:
    """Delete folders whose export needs none: it ended without a file, or has no row. So goes what
    a worker wrote that had lost its lease. Returns how many."""
    try:
        folders, _ = default_storage.listdir(_ALL)
    except FileNotFoundError:
        return 0
    needed = DataExport.objects.filter(Q(state__in=UNFINISHED) | ~Q(file=""))
    kept = {str(pk) for pk in needed.values_list("pk", flat=True)}
    swept = [name for name in folders if name not in kept and folder_delete(f"{_ALL}/{name}")]
    if swept:
        log.warning("export_folders_swept", exports=swept)
    return len(swept)
