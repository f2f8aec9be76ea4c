"""Engines kept running on many machines by Ray Serve (docs/operations.md, "Ray").

    serve.yaml        what `serve deploy` gets: an application for each pool
    cluster.env       what every Ray process needs in its environment: health checks, metrics
    pool.py           the arguments of an application, checked
    application.py    from these to a Serve deployment: replicas, placement, roll and drain
    replica.py        the actor of one replica: its engine, and the other ranks of it
    engine.py         one engine process: started, watched, drained
    ranks.py          which bundle of a placement group computes which rank
    queue_reading.py  how full the pool's queue is, read from Redis
    autoscaling.py    how many replicas that asks for

Ray decides where engines run and how many, and brings back what is lost. It carries no request:
engines announce themselves, and gateways call them (decisions 0240 and 0297). Only `application.py`
and `replica.py` import Ray.
"""
