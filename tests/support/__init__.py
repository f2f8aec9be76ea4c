"""What tests share: the services of a run, a real engine, the running product.

`plugin.py` starts the services of the run, `engine.py` a real engine with the default model,
`product.py` the whole product as subprocesses. tests/conftest.py offers them as fixtures.
"""
