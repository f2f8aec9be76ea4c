"""Recover: generations whose process, reader or buffer is gone.

failover.py     those whose process died go on here, from the text so far
reaper.py       those that cannot be continued end as failed, billed for what was delivered
heartbeat.py    renews the leases of this process
disconnect.py   what a reader's leaving means
"""
