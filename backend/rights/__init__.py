"""What people and organizations may ask of their data: a copy of it, and its erasure.

registry.py   every table of every app, and what an erasure and an export do with it (table.py),
              joined from tables/, by what they hold
requests.py   asking for either, and what it does at once
jobs.py       the queue: one job at a time, resumed where a worker died
export.py     the copy: JSON lines and files, in a zip; readme.py describes them in it
erasure.py    the erasure, table by table, and its certificate

Stands above all apps that hold data, below `api`. What must be asked before data is kept
(retention, legal holds, opt-outs) is in `accounts`, below all of them.
"""
