"""Models: OpenAI's listing under `/v1`, and the product's with prices under `/api`."""

from datetime import datetime
from typing import Any, Literal

import msgspec
from django.utils import timezone
from ninja import Router

from backend.accounts.principal import AuthenticatedRequest, Principal
from backend.api.schemas.resources import ModelListOut, ModelOut, PendingModelOut, PricesOut
from backend.generation.admission.image_text import capabilities_of
from backend.generation.lifespan import GatewayNotRunning, gateway_of
from backend.generation.pools.access import may_use, pool_for, pools_for
from backend.generation.pools.config import PoolConfig, PoolsInForce, load_pools
from backend.generation.pools.health import pool_health
from backend.generation.pools.pending import machine_models, pending_models
from backend.platform.database import in_database
from billing.prices import Payer, PriceBook, UnpricedUsage
from billing.prices.loading import shared_price_book
from billing.quantities import Kind

openai_router = Router(tags=["models"])
product_router = Router(tags=["models"])

# OpenAI gives each model a date of birth; ours have none, and clients only want a number.
_CREATED = 1_763_683_200


async def _book(request: AuthenticatedRequest) -> PriceBook:
    return await shared_price_book(organization_id=request.auth.organization_id)


@openai_router.get("/models")
async def list_models(request: AuthenticatedRequest) -> dict[str, Any]:
    """Every model that the organization may use, and every other name of it."""
    book, now = await _book(request), timezone.now()
    names = [
        _openai_model(pool, name, _prices(book, pool.id, request.auth, now))
        for pool in await pools_for(_pools(request), request.auth)
        for name in (pool.id, *pool.aliases)
    ]
    return {"object": "list", "data": names}


@openai_router.get("/models/{path:model_id}")
async def retrieve_model(request: AuthenticatedRequest, model_id: str) -> dict[str, Any]:
    """One model, by its id or another of its names."""
    pool = await pool_for(_pools(request), model_id, request.auth)
    book = await _book(request)
    prices = _prices(book, pool.id, request.auth, timezone.now())
    return _openai_model(pool, model_id, prices)


@product_router.get("", response=ModelListOut)
async def list_product_models(request: AuthenticatedRequest) -> ModelListOut:
    """What each model can do and costs, and whether it can answer now; and what is on its way."""
    book = await _book(request)
    ready = {replica.pool for replica in await in_database(pool_health) if replica.ready}
    loading = {m.id for m in await in_database(machine_models) if m.state == "loading"}
    return ModelListOut(
        data=[
            ModelOut(
                id=pool.id,
                name=pool.name,
                context_window=pool.context_window,
                max_output_tokens=pool.max_output_tokens,
                capabilities=capabilities_of(pool),
                prices=_prices(book, pool.id, request.auth, timezone.now()),
                status=_status(pool, ready, loading),
                license=pool.license,
                notice=pool.notice,
            )
            for pool in await pools_for(_pools(request), request.auth)
        ],
        pending=[
            PendingModelOut(**msgspec.structs.asdict(model))
            for model in await in_database(pending_models)
            if await may_use(model.id, request.auth)
        ],
    )


def _pools(request: AuthenticatedRequest) -> PoolsInForce:
    """Those of the gateway, which knows the adapters of engines too; where none runs, the
    configured ones."""
    try:
        return gateway_of(getattr(request, "scope", {})).pools
    except GatewayNotRunning:
        return load_pools()


def _status(
    pool: PoolConfig, ready: set[str], loading: set[str]
) -> Literal["ready", "idle", "loading", "unavailable"]:
    if pool.id in ready:
        return "ready"
    if pool.id in loading:
        return "loading"
    return "idle" if pool.on_demand else "unavailable"


def _prices(book: PriceBook, model: str, caller: Principal, at: datetime) -> PricesOut | None:
    """What the caller's project pays now; of tiers, the first. None without a price."""
    payer = Payer(caller.organization_id, caller.project_id)

    def price(kind: Kind) -> Any:
        try:
            return book.price(model=model, kind=kind, payer=payer, at=at).tiers[0].price
        except UnpricedUsage:
            return None

    prices = {kind.value: price(kind) for kind in Kind}
    return PricesOut(**prices) if any(one is not None for one in prices.values()) else None


def _openai_model(pool: PoolConfig, name: str, prices: PricesOut | None) -> dict[str, Any]:
    """OpenAI's object, and beyond it what the model can do, its limits and what it costs this
    project, in US dollars for 1,000 tokens."""
    return {
        "id": name,
        "object": "model",
        "created": _CREATED,
        "owned_by": "parley",
        "root": pool.id,
        "context_window": pool.context_window,
        "max_output_tokens": pool.max_output_tokens,
        "capabilities": capabilities_of(pool),
        "modalities": _modalities(pool),
        "reranks_by": _reranks_by(pool),
        "prices": None if prices is None else prices.model_dump(mode="json"),
    }


def _modalities(pool: PoolConfig) -> dict[str, list[str]]:
    """What it reads or hears, and what it makes."""
    hears = {"transcriptions", "translations"} & set(pool.capabilities)
    makes = {"embeddings": "embeddings", "chat": "text", "completions": "text", "speech": "audio"}
    made = {made for can, made in makes.items() if can in pool.capabilities}
    sees = ["image"] if "vision" in pool.capabilities else []
    return {
        "input": ["audio"] if hears else ["text", *sees],
        "output": sorted(made | ({"text"} if hears else set())),
    }


def _reranks_by(pool: PoolConfig) -> str | None:
    """A model that makes vectors ranks by them; one that only ranks reads both texts together."""
    if "rerank" not in pool.capabilities:
        return None
    return "cosine_of_embeddings" if "embeddings" in pool.capabilities else "cross_encoder"
