"""Which scheme a `quantization_config` speaks of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from torch import Tensor

from inference.errors import ModelLoadError
from inference.quantization.folders.awq import Awq
from inference.quantization.folders.codes import Codes
from inference.quantization.folders.compressed import Mixed, Packed, Plain
from inference.quantization.folders.fp8 import Fp8
from inference.quantization.folders.gptq import Gptq
from inference.quantization.folders.unpack import Tensors

Config = Mapping[str, Any]


class Scheme(Protocol):
    """How the matrices of a folder are kept. Which ones are, the tensors say."""

    @property
    def name(self) -> str: ...

    @property
    def main(self) -> str:
        """The tensor that a quantized matrix has at least."""
        ...

    @property
    def tensors(self) -> tuple[str, ...]:
        """All that it may have."""
        ...

    def matrix(self, name: str, tensors: Tensors) -> Codes | Tensor:
        """The matrix (out, in), dense ones in float32.

        Raises:
            ModelLoadError: when a tensor is missing or does not fit, by its name.
        """
        ...


UNUSED = (
    *("input_scale", "input_zero_point", "input_scale_ub", "activation_scale"),
    *("k_scale", "v_scale", "q_scale"),
)
"""For activations, keys and values in eight bits, which we do not round to."""


def scheme_of(config: Config) -> Scheme:
    """
    Raises:
        ModelLoadError: when the scheme, or something about it, is not implemented.
    """
    method = config.get("quant_method")
    if method not in _SCHEMES:
        raise _refused(repr(method or config))
    return _SCHEMES[method](config)


def _refused(what: str) -> ModelLoadError:
    return ModelLoadError(
        f"weights with quantization_config {what} are not implemented: give the folder that they "
        "were made from, or a GGUF file"
    )


def _only(config: Config, key: str, known: tuple[Any, ...], default: Any) -> Any:
    if (found := config.get(key, default)) not in known:
        raise _refused(f"{config['quant_method']!r} with {key} {found!r}")
    return found


def _fp8(config: Config) -> Scheme:
    _only(config, "fmt", ("e4m3", "e5m2", "float8_e4m3fn"), "e4m3")
    block = _pair(config, "weight_block_size", config.get("weight_block_size"))
    return Fp8(block)


def _fbgemm_fp8(config: Config) -> Scheme:
    return Fp8()


def _awq(config: Config) -> Scheme:
    _only(config, "bits", (4,), config.get("w_bit", 4))
    _only(config, "version", ("gemm", "GEMM"), "gemm")
    _only(config, "zero_point", (True,), True)
    return Awq(_group_size(config, config.get("q_group_size", 128)))


def _gptq(config: Config) -> Scheme:
    bits = _only(config, "bits", (4, 8), None)
    form = _only(config, "checkpoint_format", ("gptq", "gptq_v2"), "gptq")
    return Gptq(bits, _group_size(config, 128), zeros_less_one=form == "gptq")


def _compressed(config: Config) -> Scheme:
    if (config.get("sparsity_config") or {}).get("format", "dense") != "dense":
        raise _refused(f"'compressed-tensors' with sparsity_config {config['sparsity_config']!r}")
    if config.get("transform_config"):
        raise _refused("'compressed-tensors' with transform_config")
    groups = list((config.get("config_groups") or {}).values())
    formats = {group.get("format") or config.get("format") for group in groups}
    block = None
    for group in groups:
        weights = group.get("weights") or {}
        kind = weights.get("type", "int"), weights.get("num_bits", 8)
        if kind not in (("int", 4), ("int", 8), ("float", 8)):
            raise _refused(f"'compressed-tensors' with {kind[0]} weights of {kind[1]} bits")
        if weights.get("strategy") == "block":
            block = _pair(config, "block_structure", weights.get("block_structure"))
    if not formats or formats - _COMPRESSED:
        given = ", ".join(sorted(map(str, formats or {config.get("format")})))
        raise _refused(f"'compressed-tensors' with format {given}")
    if formats == {"pack-quantized"}:
        return Packed()
    plain = Plain(block)
    return Mixed(plain) if "pack-quantized" in formats else plain


_COMPRESSED = {"pack-quantized", "int-quantized", "float-quantized", "naive-quantized"}


def _group_size(config: Config, default: int) -> int:
    size = config.get("group_size", default)
    if not isinstance(size, int) or not (size > 0 or size == -1):
        raise _refused(f"{config['quant_method']!r} with group_size {size!r}")
    return size


def _pair(config: Config, key: str, given: Any) -> tuple[int, int] | None:
    if given is None:
        return None
    if not (isinstance(given, list) and len(given) == 2 and all(int(n) > 0 for n in given)):
        raise _refused(f"{config['quant_method']!r} with {key} {given!r}")
    return int(given[0]), int(given[1])


_SCHEMES = {
    "fp8": _fp8,
    "fbgemm_fp8": _fbgemm_fp8,
    "awq": _awq,
    "gptq": _gptq,
    "compressed-tensors": _compressed,
}
