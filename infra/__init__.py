"""Everything that runs Parley: embedded services, the launcher, deployment files.

`services/`    one launcher for each embedded service (PostgreSQL, Valkey, the event log)
`launcher/`    `manage.py up`: from a fresh clone to the first served token
`checks.py`    `make test`: every check in one go
`ray/`         engines on many machines, kept by Ray Serve
`kubernetes/`, `prometheus/`, `grafana/`, `compose.yaml`, `Dockerfile`: production
`load/`        load and fault tests, bounded and on the loopback only

The product never imports this package: it knows services only by their URLs.
"""
