"""Structured logs: one JSON object a line, with the request id of whatever caused it.

Every process of the Procfile uses this; `PARLEY_LOG_FORMAT=console` is for people.
"""

import logging
import logging.config
import re
from collections.abc import MutableMapping
from typing import Any

import structlog

# The secret of an API key, wherever a message or a traceback may have caught it.
_SECRET = re.compile(r"sk-parley-[0-9A-Za-z]{7,}")
# The token of a shared conversation, which is a part of its address.
_SHARED = re.compile(r"(/shared?/)[^/\s?\"']+")


def redact(logger: Any, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Blacken API keys and tokens of addresses in every text of a log line."""
    for name, value in event.items():
        if isinstance(value, str) and "sk-parley-" in value:
            event[name] = value = _SECRET.sub("sk-parley-[redacted]", value)
        if isinstance(value, str) and "/share" in value:
            event[name] = _SHARED.sub(r"\1[redacted]", value)
    return event


def configure(options: dict[str, Any]) -> None:
    """Set up structlog and the standard library's logging alike (Django's LOGGING_CONFIG).

    Args:
        options: `level` (a logging level's name) and `format` (`json` or `console`).
    """
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    renderer: Any = (
        structlog.processors.JSONRenderer()
        if options["format"] == "json"
        else structlog.dev.ConsoleRenderer(colors=True)
    )
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    logging.config.dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "formatters": {
                "structured": {
                    "()": structlog.stdlib.ProcessorFormatter,
                    "foreign_pre_chain": [*shared, structlog.stdlib.ExtraAdder()],
                    "processors": [
                        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                        redact,
                        renderer,
                    ],
                }
            },
            "handlers": {
                "stdout": {
                    "class": "logging.StreamHandler",
                    "stream": "ext://sys.stdout",
                    "formatter": "structured",
                }
            },
            "root": {"handlers": ["stdout"], "level": options["level"]},
            "loggers": {
                # One line a request comes from our own middleware, with more in it.
                "uvicorn.access": {"handlers": [], "propagate": False},
                # Its line for a finished task holds what the task returned: a title is content.
                "celery.app.trace": {"level": "WARNING"},
                # A line for each task that is due, every few seconds: metrics say it better.
                "celery.beat": {"level": "WARNING"},
                "celery.worker.strategy": {"level": "WARNING"},
                "kafka": {"level": "WARNING"},
                # Warns whenever a busy machine makes its loop wait for a tenth of a second.
                "kafka.net.selector": {"level": "ERROR"},
                "httpx": {"level": "WARNING"},
                "django.request": {"level": "ERROR"},
            },
        }
    )
