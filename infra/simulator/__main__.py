"""`python -m infra.simulator`: see `--help`."""

from __future__ import annotations

from infra.load.stand_ins import prepare


def main() -> None:
    prepare()
    from infra.simulator.cli import main as run

    run()


if __name__ == "__main__":
    main()
