"""Background work of the data rights."""

from backend.platform.periodic import periodic_task
from backend.rights.export import exports_expire
from backend.rights.export_files import exports_sweep
from backend.rights.jobs import jobs_run
from backend.rights.models import DataExport, Erasure


@periodic_task()
def run_erasures() -> int:
    """After each request, and by beat for what a worker has died with. No export holds one up."""
    return jobs_run(Erasure)


@periodic_task(at_once=2)
def run_exports() -> int:
    """Run due exports, as `run_erasures` does. One may take hours."""
    return jobs_run(DataExport)


@periodic_task()
def expire_exports() -> int:
    """Hourly: their files go after seven days, and those that no export needs at once."""
    return exports_expire() + exports_sweep()
