"""The cache holds data and no code: whoever writes to Redis makes the product run nothing."""

import os
import pickle

import pytest
import redis
from django.core.cache import cache, caches


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


@pytest.mark.usefixtures("services")
def test_caches_of_all_requests_share_connections():
    """Django makes a cache for each request."""
    cache.set("held", 1)
    with redis.Redis.from_url(os.environ["REDIS_URL"]) as client:
        before = client.info("stats")["total_connections_received"]
        for _ in range(5):
            assert caches.create_connection("default").get("held") == 1
        assert client.info("stats")["total_connections_received"] == before


@pytest.mark.usefixtures("services")
def test_cache_connects_again_when_the_server_has_closed_its_connections():
    cache.set("held", 1)
    with redis.Redis.from_url(os.environ["REDIS_URL"]) as client:
        assert client.client_kill_filter(_type="normal", skipme=True) >= 1
    assert cache.get("held") == 1
