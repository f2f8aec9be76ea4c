"""Money under fire: the whole product is used while its parts are killed, then all accounts agree.

    customers.py  clients that do what good clients do when a server dies: come back
    faults.py     the random steps
    agreement.py  what must agree at the end, computed by the test's own arithmetic
    test_money.py the run

`PARLEY_CHAOS_SEED` and `PARLEY_CHAOS_STEPS` choose a run; `make chaos-money` makes longer ones.
"""
