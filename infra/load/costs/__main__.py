"""`python -m infra.load.costs`, and with `--reads` only `infra.load.costs.reads`."""

import sys

from infra.load.stand_ins import prepare


def main() -> None:
    prepare()
    if "--reads" in sys.argv:
        from infra.load.costs.reads import main as measure
    else:
        from infra.load.costs.measure import main as measure
    measure()


if __name__ == "__main__":
    main()
