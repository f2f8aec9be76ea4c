"""The cache holds data and no code: whoever writes to Redis makes the product run nothing."""

import os
import pickle

import pytest
import redis
from django.core.cache import cache


class Runs:
    def __reduce__(self):
        return os.system, ("false",)


@pytest.mark.usefixtures("services")
def test_cache_stores_json_and_reads_no_pickle():
    cache.set("held", {"a": [1, "b"]})
    cache.set("count", 1)
    assert (cache.get("held"), cache.incr("count")) == ({"a": [1, "b"]}, 2)
    with redis.Redis.from_url(os.environ["REDIS_URL"]) as client:
        key = cache.make_key("held")
        assert client.get(key) == b'{"a":[1,"b"]}'
        client.set(key, pickle.dumps(Runs()))
    with pytest.raises(ValueError, match="UTF-8"):
        cache.get("held")
    with pytest.raises(TypeError):
        cache.set("held", Runs())
