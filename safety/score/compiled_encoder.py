"""The layers of `data/encoder.onnx` run by our own kernels: the same products of the same bytes as
onnxruntime's, without what it does between them.

Activations are rounded as the graph says, to eight bits of one scale for the whole window, and
products are sums of whole numbers. What is left to differ is the rounding of floats: a value at the
border of two bytes may become either, and what follows differs then (docs/decisions/0434).
"""

import ctypes
import logging
from collections import Counter
from collections.abc import Mapping

import numpy as np

from safety.score.kernels import compile as kernels
from safety.score.onnx_file import UnreadableGraph, read_graph

log = logging.getLogger(__name__)

SIZE, WIDE = 384, 1536
_SHAPES = {
    "all_three": (SIZE, 3 * SIZE),
    "layer.mixed": (SIZE, SIZE),
    "layer.wide": (SIZE, WIDE),
    "layer.narrow": (WIDE, SIZE),
}
_MAX_WEIGHT = 64
"""Seven bits: two products of bytes then fit into 16 bits, which AVX2 adds up."""

_ALIGNMENT = 64


class _Product(ctypes.Structure):
    _fields_ = [
        ("weights", ctypes.c_void_p),
        ("totals", ctypes.c_void_p),
        ("scales", ctypes.c_void_p),
        ("bias", ctypes.c_void_p),
        ("depth", ctypes.c_int32),
        ("columns", ctypes.c_int32),
    ]


class _Norm(ctypes.Structure):
    _fields_ = [("weight", ctypes.c_void_p), ("bias", ctypes.c_void_p)]


class _Layer(ctypes.Structure):
    _fields_ = [
        ("all_three", _Product),
        ("mixed", _Product),
        ("wide", _Product),
        ("narrow", _Product),
        ("after_attention", _Norm),
        ("after_all", _Norm),
    ]


class _Encoder(ctypes.Structure):
    _fields_ = [("norm", _Norm), ("layers", ctypes.POINTER(_Layer)), ("count", ctypes.c_int32)]


def compiled_layers(graph: bytes) -> "CompiledLayers | None":
    """The layers of an ONNX `graph`; None, with the reason logged, where this processor has no
    kernels or the graph is another function than theirs."""
    library = kernels.load()
    if library is None:
        return None
    try:
        return CompiledLayers(library, graph)
    except UnreadableGraph as error:
        log.warning("the compiled encoder is not used: %s", error)
        return None


class CompiledLayers:
    """Immutable after construction; shared by all threads, which run at the same time.

    Args:
        graph: an ONNX model as `safety.training.export` writes it.
    Raises:
        UnreadableGraph: it is no such model.
    """

    def __init__(self, library: ctypes.CDLL, graph: bytes) -> None:
        read = read_graph(graph)
        count = sum(name.endswith("all_three.bias") for name in read.tensors)
        _require_the_known_function(read.operators, count)
        self._max_rows = library.parley_encoder_max_rows()
        weights = _Weights(read.tensors, count, library.parley_encoder_panel())
        layers = (_Layer * count)(*(weights.layer(number) for number in range(count)))
        self._kept = weights, layers
        self._encoder = _Encoder(weights.norm("norm"), layers, count)
        self._address = ctypes.addressof(self._encoder)
        self._run = library.parley_encode
        self._run.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p]
        self._run.restype = None

    def __call__(self, vectors: np.ndarray) -> np.ndarray:
        """The mean of a text's pieces after all layers, float32 [SIZE], from [pieces, SIZE]."""
        if vectors.ndim != 2 or vectors.shape[1] != SIZE:
            raise ValueError(f"vectors are {vectors.shape}, not [pieces, {SIZE}]")
        if not 1 <= len(vectors) <= self._max_rows:
            raise ValueError(f"a text has 1 to {self._max_rows} pieces, not {len(vectors)}")
        vectors = np.ascontiguousarray(vectors, dtype=np.float32)
        mean = np.empty(SIZE, dtype=np.float32)
        self._run(self._address, vectors.ctypes.data, len(vectors), mean.ctypes.data)
        return mean


class _Weights:
    """The tensors as the kernels want them. Products' weights lie in one piece of memory, in the
    order in which they are used: the kernels fetch ahead."""

    def __init__(self, tensors: Mapping[str, np.ndarray], layers: int, panel: int) -> None:
        self._tensors = tensors
        self._panel = panel
        self._kept: list[np.ndarray] = []
        size = layers * sum(depth * columns for depth, columns in _SHAPES.values())
        room = np.empty(size + _ALIGNMENT, dtype=np.int8)
        self._room = room[-room.ctypes.data % _ALIGNMENT :]
        self._filled = 0

    def layer(self, number: int) -> _Layer:
        prefix = f"layers.{number}"
        products = (self._product(f"{prefix}.{name}", shape) for name, shape in _SHAPES.items())
        norms = (self.norm(f"{prefix}.layer.{name}") for name in ("after_attention", "after_all"))
        return _Layer(*products, *norms)

    def norm(self, name: str) -> _Norm:
        parts = (self._tensor(f"{name}.{part}", (SIZE,)) for part in ("weight", "bias"))
        return _Norm(*(self._keep(part, np.float32) for part in parts))

    def _product(self, name: str, shape: tuple[int, int]) -> _Product:
        depth, columns = shape
        weights = self._tensor(f"{name}.weight_quantized", shape)
        if np.abs(weights.astype(np.int16)).max() > _MAX_WEIGHT:
            raise UnreadableGraph(f"{name} has weights of more than seven bits")
        if self._tensor(f"{name}.weight_zero_point", (columns,)).any():
            raise UnreadableGraph(f"{name} has weights that are not symmetric")
        return _Product(
            self._packed(weights),
            self._keep(weights.sum(axis=0, dtype=np.int32), np.int32),
            self._keep(self._tensor(f"{name}.weight_scale", (columns,)), np.float32),
            self._keep(self._tensor(f"{name}.bias", (columns,)), np.float32),
            depth,
            columns,
        )

    def _packed(self, weights: np.ndarray) -> int:
        """The address of [columns / panel][depth / 4][panel][4]."""
        depth, columns = weights.shape
        in_fours = weights.reshape(depth // 4, 4, columns // self._panel, self._panel)
        place = self._room[self._filled : self._filled + weights.size]
        place[:] = in_fours.transpose(2, 0, 3, 1).ravel()
        self._filled += weights.size
        return place.ctypes.data

    def _tensor(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        found = self._tensors.get(name)
        if found is None:
            raise UnreadableGraph(f"the graph has no {name}")
        if found.shape != shape:
            raise UnreadableGraph(f"{name} is {found.shape}, not {shape}")
        return found

    def _keep(self, values: np.ndarray, kind: type) -> int:
        self._kept.append(np.ascontiguousarray(values, dtype=kind))
        return self._kept[-1].ctypes.data


def _require_the_known_function(operators: list[str], layers: int) -> None:
    """Raises UnreadableGraph unless these are the nodes of that many layers of MiniLM."""
    expected = {"LayerNormalization": 2 * layers + 1, "ReduceMean": 1}
    expected |= {"MatMulInteger": 4 * layers, "DynamicQuantizeLinear": 4 * layers}
    expected |= {"Softmax": layers, "Erf": layers, "MatMul": 2 * layers}
    found = Counter(operators)
    if not layers or any(found[name] != count for name, count in expected.items()):
        raise UnreadableGraph(f"the graph computes something else: {dict(found)}")
