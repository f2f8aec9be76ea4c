"""Routing on one trace of conversations, by the gateway's policies and by others' routers.

Four real engines with small caches, asked by the gateway's own client; between them the
conversations of one trace, each turn sent when the answer before it has come, no turn cached from
the policy before. Printed for each policy: the share of later turns that found their conversation
cached, cached tokens, time to the first token, tokens a second, and the busiest engine's share of
all requests over a fair one, by the engines' own count.

The gateway's policies choose within the process that asks, others' routers are a program in
between: "one hop more" is what that costs.
"""

from infra.load.stand_ins import prepare


def main() -> None:
    prepare()
    from infra.load.routing import table

    table.main(__doc__)


if __name__ == "__main__":
    main()
