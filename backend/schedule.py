"""When beat runs the tasks of the apps in backend/ and safety/, and in which queue each task waits.
Plain data; billing has its own.

A queue for each kind of work, so that none waits for another: people's data (`data`), titles and
what else a model writes (`titles`), mails (`mail`); of billing `money` and `webhooks`. A task that
is named nowhere here waits in `celery`, which the process `worker` takes too.
"""

from typing import Any

BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    "purge-idempotency-records": {
        "task": "backend.api.tasks.purge_idempotency_records",
        "schedule": 3600.0,
    },
    "purge-stored-responses": {
        "task": "backend.api.tasks.purge_stored_responses",
        "schedule": 3600.0,
    },
    "purge-request-logs": {
        "task": "backend.api.tasks.purge_request_logs",
        "schedule": 3600.0,
    },
    "purge-stored-files": {
        "task": "backend.api.tasks.purge_stored_files",
        "schedule": 600.0,
    },
    "purge-deleted-conversations": {
        "task": "backend.conversations.tasks.purge_deleted",
        "schedule": 3600.0,
    },
    "purge-overdue-conversations": {
        "task": "backend.conversations.tasks.purge_overdue",
        "schedule": 60.0,
    },
    "write-api-key-last-uses": {
        "task": "backend.accounts.tasks.api_key_last_uses_write",
        "schedule": 60.0,
    },
    "run-erasures": {
        "task": "backend.rights.tasks.run_erasures",
        "schedule": 30.0,
    },
    "run-exports": {
        "task": "backend.rights.tasks.run_exports",
        "schedule": 30.0,
    },
    "expire-exports": {
        "task": "backend.rights.tasks.expire_exports",
        "schedule": 3600.0,
    },
    "send-due-mails": {
        "task": "backend.accounts.tasks.mails_send_due",
        "schedule": 30.0,
    },
    "delete-expired-mails": {
        "task": "backend.accounts.tasks.mails_delete_expired",
        "schedule": 3600.0,
    },
    "note-engine-hours": {
        "task": "backend.generation.tasks.note_engine_hours",
        "schedule": 15.0,
    },
    "purge-cached-answers": {
        "task": "backend.generation.tasks.purge_cached_answers",
        "schedule": 600.0,
    },
    "delete-expired-safety-texts": {
        "task": "safety.audit.tasks.delete_expired_texts",
        "schedule": 3600.0,
    },
    "watch-safety-block-rate": {
        "task": "safety.audit.tasks.watch_block_rate",
        "schedule": 300.0,
    },
}

TASK_ROUTES: dict[str, dict[str, str]] = {
    "backend.conversations.tasks.title_create": {"queue": "titles"},
    "backend.conversations.tasks.memory_propose": {"queue": "titles"},
    "backend.conversations.tasks.summary_create": {"queue": "titles"},
    "backend.accounts.tasks.mails_*": {"queue": "mail"},
    "backend.generation.tasks.note_engine_hours": {"queue": "money"},
    "backend.*": {"queue": "data"},
    "safety.*": {"queue": "data"},
}
"""The first that fits, exact names before patterns."""

_DAY_S = 86400.0


def with_expiry(schedule: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """A schedule in which each task expires when the next one is due: they do not pile up while
    their worker is away."""
    expiring = {}
    for name, entry in schedule.items():
        every = entry["schedule"]
        expires = every if isinstance(every, float) else _DAY_S
        expiring[name] = {**entry, "options": {"expires": expires}}
    return expiring
