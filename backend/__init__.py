"""The Django project: settings, entry points, and the apps that are the product.

    platform       what all apps use: errors, Redis, the database bridge, lock, SSE, JSON
    accounts       who someone is: users, organizations, memberships, plans, API keys
    conversations  what was said: conversations, messages (a tree), attachments, feedback, shares
    generation     one generation, from admission to its terminal state
    api            HTTP: /v1 (OpenAI-compatible), /api (the product), errors, schemas

Apps depend downwards only: api -> generation -> conversations -> accounts -> platform.
`billing/` and `safety/` stand beside this folder. Writes live in each app's `services.py`, reads
in its `selectors.py`.
"""

from backend.celery import app as celery_app

__all__ = ["celery_app"]
