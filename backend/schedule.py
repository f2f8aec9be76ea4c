"""When beat runs the tasks of the apps in backend/ and safety/. Plain data; billing has its own."""

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
    "run-data-jobs": {
        "task": "backend.rights.tasks.run_jobs",
        "schedule": 30.0,
        "options": {"expires": 30.0},  # runs do not pile up behind a long one
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
        "options": {"expires": 15.0},
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
