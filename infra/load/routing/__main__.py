"""`python -m infra.load.routing`."""

from infra.load.stand_ins import prepare


def main() -> None:
    prepare()
    from infra.load.routing.measure import main as measure

    measure()


if __name__ == "__main__":
    main()
