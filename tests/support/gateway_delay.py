"""`make test`'s line of what the gateway adds: `infra.load.gateway` on the tests' kept database,
whose migrations would cost more than the measuring."""

import os
import secrets

from infra.launcher.procfile import ROOT
from infra.load import gateway
from infra.services.bundle import ServiceBundle
from tests.support import cluster
from tests.support.run_directory import run_directory


def main() -> None:
    with run_directory() as directory:
        os.environ["PARLEY_TEST_DIRECTORY"] = str(directory)
        kept = ROOT / ".pytest_cache" / "d" / "cluster"
        kept.mkdir(parents=True, exist_ok=True)
        (directory / "cluster").symlink_to(kept)
        services = ServiceBundle(directory / "services", {}, throw_away=True)
        postgres = services.service("DATABASE_URL")
        assert postgres is not None
        cluster.share_password(postgres.data_dir)
        # Where no database is kept yet, what makes one reads the product's settings.
        os.environ |= services.reserve()
        os.environ["PARLEY_VAR"] = str(directory)
        os.environ["PARLEY_KEYS"] = f"1:{secrets.token_urlsafe(32)}"
        cluster.place(postgres.data_dir)
        gateway.main(services)


if __name__ == "__main__":
    main()
