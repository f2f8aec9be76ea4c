"""The Celery application: purge, titles, reconciliation. Started by `worker` and `beat`."""

import gc
import os

from celery import Celery
from celery.signals import task_prerun

# As in manage.py: what is imported stays.
gc.set_threshold(50_000, 10, 10)
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "backend.settings")
# Django's checks import the whole API, a second of processor time and 45 MB in each of these
# processes: `manage.py migrate`, which every deployment runs first, has made them.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

app = Celery("parley")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@task_prerun.connect
def follow_rotation(**sent: object) -> None:
    """Links that a task signs are signed by the version that writes now."""
    from backend.platform.encryption import django_keys_follow  # needs the settings

    django_keys_follow()
