"""The product against Apache Kafka itself, which production uses: `make test-kafka`.

    libraries.py     Kafka's jars, by Maven or from a folder, checked by their hashes
    apache.py        one node, and a cluster of three
    __main__.py      the command
    test_*.py        ways of access, and the warning about topics that can lose records

Beside these, the command runs the contract of the event log, all billing tests and the kills of
`chaos-money` with Apache Kafka in the place of the embedded broker.
"""
