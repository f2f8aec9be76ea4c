"""What staff say of models in the database comes before the pools files."""

import pytest
from django.core.exceptions import ValidationError

from backend.generation.models import Pool
from backend.generation.pools.config import PoolRow, Pools, load_pools, overlaid, pool_of, use_rows
from backend.generation.pools.rows import definition_of, pool_rows_read, pool_save
from billing.models import Price

DEFINITION = {
    "id": "large",
    "aliases": ["auto"],
    "context_window": 100,
    "max_output_tokens": 50,
    "price_per_1k": {"input": "0.1", "cached_input": "0.05", "output": "0.2"},
    "replica": [{"name": "a", "url": "http://a:1", "api_key": "${PARLEY_ENGINE_API_KEY:-}"}],
}


@pytest.fixture(autouse=True)
def no_rows_afterwards():
    yield
    use_rows(())


def pool(name: str, **changes: object):
    return pool_of({**DEFINITION, "id": name, **changes}, {})


def ids(pools: Pools) -> list[str]:
    return [one.id for one in pools.models]


def test_row_takes_the_place_of_the_files_model():
    files = Pools((pool("small"), pool("large", aliases=[])))
    changed = pool("small", context_window=7)
    pools = overlaid(files, [PoolRow("small", changed)])
    assert ids(pools) == ["small", "large"]
    assert pools.models[0].context_window == 7
    assert overlaid(files, []) is files


def test_row_that_is_first_has_the_alias():
    files = Pools((pool("small"), pool("other", aliases=[])))
    pools = overlaid(files, [PoolRow("large", pool("large"), position=0)])
    assert ids(pools) == ["large", "small", "other"]
    assert pools.find("auto").id == "large"


def test_model_that_is_switched_off_does_not_exist():
    files = Pools((pool("small"), pool("large", aliases=[])))
    assert ids(overlaid(files, [PoolRow("small", None)])) == ["large"]


def test_definition_of_a_pool_describes_it():
    for one in load_pools().models:
        again = pool_of(definition_of(one), {"PARLEY_ENGINE_URL": one.replicas[0].url})
        assert again == one


@pytest.mark.django_db
def test_saved_row_is_in_force_and_has_a_price():
    pool_save(model_id="large", definition=DEFINITION, position=0)
    assert load_pools().find("auto").id == "large"
    assert Price.objects.filter(model="large").exists()
    pool_save(model_id="large", definition=DEFINITION, is_enabled=False)
    assert load_pools().get("large") is None


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"context_window": 0}, "context_window"),
        ({"replica": [{"name": "a", "url": "ftp://a"}]}, "url must be"),
        ({"routing": "by magic"}, "routing must be"),
        ({"id": "another"}, "must be 'large'"),
        ({"tokens": 1}, "tokens"),
        ({"name": "${NOT_SET_ANYWHERE}"}, "NOT_SET_ANYWHERE"),
    ],
)
def test_wrong_definition_is_refused_by_its_field(change, field):
    with pytest.raises(ValidationError, match=field):
        pool_save(model_id="large", definition={**DEFINITION, **change})
    assert not Pool.objects.exists()


@pytest.mark.django_db
def test_row_that_cannot_be_read_leaves_the_files_word():
    before = ids(load_pools())
    model_id = before[0]
    Pool.objects.create(model_id=model_id, definition={"id": model_id})
    assert ids(pool_rows_read()) == before
