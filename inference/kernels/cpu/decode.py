"""All layers over few rows in one call of `decode.h`, where every part of them allows it.

A step of one token is some 400 operations of a few microseconds each; called one by one
from Python, calling them costs as much as computing them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import Structure, c_float, c_int, c_void_p

import torch
from torch import Tensor

from inference.kernels.backend import Angles, LayerParts, LayerShape, TokenReadout
from inference.kernels.batch import Batch, LayerCache, Places
from inference.kernels.cpu.address import at
from inference.kernels.cpu.low_rank import Adapters, AdapterTables
from inference.kernels.cpu.packed_linear import Matrix, PackedLinear
from inference.kernels.low_rank import AdaptedProduct, Product, without_adapters

MAX_ROWS = 64
"""Up to here all layers are one call; measured with up to 32 requests."""
MAX_CHUNK_READS = 65_536
"""Tokens that a prompt's chunk attends to, counted for each query: beyond, its context is better
gathered once for all queries (docs/decisions/0101)."""
ROW_KINDS = {torch.float32: 0, torch.bfloat16: 1, torch.float16: 2, torch.int8: 3}
"""How the KV cache keeps its rows, as `kernels.cpp` numbers it."""


class _Layer(Structure):
    _fields_ = [
        ("attn_norm", c_void_p),
        ("mlp_norm", c_void_p),
        ("qkv", Matrix),
        ("out", Matrix),
        ("gate_up", Matrix),
        ("down", Matrix),
        ("keys", c_void_p),
        ("values", c_void_p),
        ("key_scales", c_void_p),
        ("value_scales", c_void_p),
        ("window", c_int),
        ("place", c_int),
    ]


class _Shape(Structure):
    _fields_ = [
        ("hidden", c_int),
        ("heads", c_int),
        ("kv_heads", c_int),
        ("head_dim", c_int),
        ("block_size", c_int),
        ("row_kind", c_int),
        ("rounds_attention", c_int),
        ("eps", c_float),
    ]


class _Chunk(Structure):
    _fields_ = [("begin", c_int), ("end", c_int), ("start", c_int), ("slots", c_void_p)]


class _Places(Structure):
    _fields_ = [("slots", c_void_p), ("tables", c_void_p), ("chunks", c_void_p)]


class _DecodeBatch(Structure):
    _fields_ = [
        ("x", c_void_p),
        ("delta", c_void_p),
        ("cosines", c_void_p),
        ("sines", c_void_p),
        ("lengths", c_void_p),
        ("places", _Places * 2),
        ("M", c_int),
        ("width", c_int),
        ("num_decode", c_int),
        ("num_chunks", c_int),
        ("adapters", Adapters),
        ("readout", c_void_p),
    ]


class _Readout(Structure):
    """`ParleyReadout` of readout.h."""

    _fields_ = [
        ("layer", c_int),
        ("count", c_int),
        ("weight", c_void_p),
        ("bias", c_void_p),
        ("values", c_void_p),
    ]


class FusedDecode:
    """Some layers, for batches of few tokens."""

    def __init__(
        self,
        kernels: ctypes.CDLL,
        shape: LayerShape,
        layers: Sequence[LayerParts],
        *,
        rounds_attention: bool = False,
    ) -> None:
        """As `CpuBackend` rounds it.

        Raises ValueError when a matrix is not stored in a way that `decode.h` knows, or matrices
        do not fit one another: the kernel takes sizes as they are told."""
        self._kernels = kernels
        self._layer_shape = shape
        self._rounds_attention = rounds_attention
        self._weights = list(layers)  # their tensors must live as long as their addresses
        self._layers = (_Layer * len(layers))(*(_layer(layer) for layer in layers))
        for layer, parts in zip(self._layers, layers, strict=True):
            _check_sizes(shape, layer, parts, self._layers[0].down.width)
        names = [_name(product) for layer in layers for product in _products(layer)]
        self._adapters = AdapterTables(names)
        self._caches: list[LayerCache] | None = None

    def takes(self, batch: Batch) -> bool:
        reads = ((chunk.end - chunk.begin) * len(chunk.slots) for chunk in batch.prefill)
        return len(batch.token_ids) <= MAX_ROWS and max(reads, default=0) <= MAX_CHUNK_READS

    def __call__(
        self,
        x: Tensor,
        angles: Angles,
        batch: Batch,
        caches: list[LayerCache],
        readout: TokenReadout | None = None,
    ) -> tuple[Tensor, Tensor]:
        """`LayerStack.__call__` for the residual stream x (T, hidden), changed in place."""
        if caches is not self._caches:
            self._point_to(caches)
        decode, sizes = batch.decode, self._layer_shape
        laid = _Laid(batch.places)
        windowed = laid if batch.windowed is None else _Laid(batch.windowed)
        delta = torch.empty_like(x)
        shape = _Shape(
            *(sizes.hidden_size, sizes.num_heads, sizes.num_kv_heads, sizes.head_dim),
            decode.block_size if decode else 1,
            *(ROW_KINDS[caches[0].keys.dtype], self._rounds_attention, sizes.eps),
        )
        cos, sin = angles
        read = None if readout is None else _readout(readout)
        call = _DecodeBatch(
            *(at(x), at(delta), at(cos), at(sin)),
            at(decode.lengths) if decode else None,
            (_Places * 2)(laid.places, windowed.places),
            *(len(x), decode.tables.shape[1] if decode else 0),
            *(batch.num_decode, len(batch.prefill)),
            *(self._adapters.of(batch.adapters, len(x)), read and ctypes.addressof(read)),
        )
        self._kernels.parley_decode(
            self._layers, len(self._layers), ctypes.byref(shape), ctypes.byref(call)
        )
        return x, delta

    def _point_to(self, caches: list[LayerCache]) -> None:
        for layer, cache in zip(self._layers, caches, strict=True):
            layer.keys, layer.values = at(cache.keys), at(cache.values)
            layer.key_scales, layer.value_scales = at(cache.key_scales), at(cache.value_scales)
        self._caches = caches


class _Laid:
    """Places with what their addresses are of, which must live as long."""

    def __init__(self, given: Places) -> None:
        self._slots = [chunk.slots.contiguous() for chunk in given.prefill]
        chunks = zip(given.prefill, self._slots, strict=True)
        self._chunks = (_Chunk * len(given.prefill))(
            *(_Chunk(one.begin, one.end, one.start, at(slots)) for one, slots in chunks)
        )
        tables = at(given.decode.tables) if given.decode else None
        self.places = _Places(at(given.slots), tables, ctypes.addressof(self._chunks))


def _layer(layer: LayerParts) -> _Layer:
    return _Layer(
        attn_norm=at(layer.attn_norm),
        mlp_norm=at(layer.mlp_norm),
        qkv=_matrix(layer.qkv),
        out=_matrix(layer.out),
        gate_up=_matrix(layer.gate_up),
        down=_matrix(layer.down),
        window=layer.window or 2**31 - 1,
        place=layer.window is not None,
    )


def _readout(readout: TokenReadout) -> _Readout:
    return _Readout(
        *(readout.layer, len(readout.weight)),
        *(at(readout.weight), at(readout.bias), at(readout.values)),
    )


def _check_sizes(shape: LayerShape, layer: _Layer, parts: LayerParts, inner: int) -> None:
    """Raises ValueError for a matrix or norm of another size; `inner` is the first layer's."""
    hidden, queries = shape.hidden_size, shape.num_heads * shape.head_dim
    qkv_rows = queries + 2 * shape.num_kv_heads * shape.head_dim
    for name, matrix, rows, width in (
        ("qkv", layer.qkv, qkv_rows, hidden),
        ("out", layer.out, hidden, queries),
        ("gate_up", layer.gate_up, 2 * inner, hidden),
        ("down", layer.down, hidden, inner),
    ):
        if (matrix.rows, matrix.width) != (rows, width):
            found = f"{matrix.rows} rows of {matrix.width}"
            raise ValueError(f"{name} has {found}, not {rows} of {width}")
    if {len(parts.attn_norm), len(parts.mlp_norm)} != {hidden}:
        raise ValueError(f"norms of other sizes than {hidden}")


def _products(layer: LayerParts) -> tuple[Product, ...]:
    """The products of a layer, in the order of `decode.h`."""
    return layer.qkv, layer.out, layer.gate_up, layer.down


def _name(product: Product) -> str:
    """What adapters call it; "" where they cannot change it."""
    return product.name if isinstance(product, AdaptedProduct) else ""


def _matrix(product: Product) -> Matrix:
    linear = without_adapters(product)
    if not isinstance(linear, PackedLinear) or linear.num_rows % 16:
        raise ValueError(f"decode.h does not know {type(linear).__name__}")
    return linear.matrix
