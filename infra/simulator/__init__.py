"""Fleets of engines in simulated time: `python -m infra.simulator` (docs/simulator.md).

  step_times.py     what a step takes, of data/*.json;  measure.py: of our engine on this machine
  trace.py          conversations, the same for real and simulated engines
  people.py         who asks and when: a trace, or a day of a crowd;  seats.py: their arrays
  outcomes.py       what became of requests

the exact level: every step, by the product's own code
  virtual_time.py   an asyncio loop whose clock jumps
  engine.py         the real core with scheduler and cache, over a model that computes nothing
  host.py           cores that replicas of one machine share
  exact.py          the real queue, routing, breaker and ramp before such engines
  compare.py        one trace at four real engines and here

the fleet level: thousands of replicas, a day
  replica_flow.py   what replicas do in an interval, in closed form
  fleet_routing.py  the policies, many requests at a time
  ordered_queue.py  the queue's order without its walk over all tickets
  fleet_health.py   breakers and ramps;  capacity.py: which replicas are paid for and serve
  fleet.py          all of it together;  ledger.py: sums and percentiles
  scenarios.py      what is asked of it;  report.py, plots.py

levels.py puts one trace to both levels; choice_cost.py: what a gateway's choice costs among many.
"""
