"""Background work of the data rights."""

from celery import shared_task

from backend.rights.export import exports_expire
from backend.rights.export_files import exports_sweep
from backend.rights.jobs import jobs_run


@shared_task
def run_jobs() -> int:
    """After each request, and by beat for what a worker has died with."""
    return jobs_run()


@shared_task
def expire_exports() -> int:
    """Hourly: their files go after seven days, and those that no export needs at once."""
    return exports_expire() + exports_sweep()
