"""Encoders and decoders over a flat batch of tokens and a paged KV cache, whatever their layers.

An encoder gives vectors of texts; a decoder is one that predicts tokens as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, runtime_checkable

from torch import Tensor

from inference.kernels.backend import Backend, FusedLayers, LayerParts, LayerShape
from inference.kernels.batch import Batch, LayerCache
from inference.kernels.low_rank import StepAdapters
from inference.model.config import ModelConfig
from inference.model.layers.rope import Rotary
from inference.model.layers.step import Step
from inference.model.readout import Readout

Hidden = tuple[Tensor, Tensor]
"""The residual stream and what the last layer adds to it, (T, hidden) each."""


class Layer(Protocol):
    @property
    def waits_for_device(self) -> bool:
        """Whether it reads a result back to go on, which a CUDA graph cannot hold."""
        ...

    def __call__(self, x: Tensor, delta: Tensor | None, cache: LayerCache, step: Step) -> Hidden:
        """Compute the layer over all tokens; writes their keys and values into `cache`.

        Args:
            x: the residual stream (T, hidden); may be changed.
            delta: what the layer before adds to it, so that a norm can add while it reads;
                nothing where None.
        """
        ...

    def parts(self) -> tuple[LayerParts, Rotary] | None:
        """The layer and its rotation for kernels that compute several layers as one operation;
        None where it is not of that kind."""
        ...


class Ends(Protocol):
    """What is before the first layer and after the last."""

    def embed(self, batch: Batch) -> Tensor:
        """What enters the first layer, (T, hidden)."""
        ...

    def normed(self, x: Tensor, delta: Tensor) -> Tensor:
        """The last layer's result (R, hidden), as vectors of prompts are made of it."""
        ...


@runtime_checkable
class DecoderEnds(Ends, Protocol):
    """Ends that predict tokens."""

    def logits(self, normed: Tensor) -> Tensor:
        """(R, vocab)."""
        ...


class LayerStack:
    """Layers one after another: a whole decoder's, or those of a pipeline's stage."""

    def __init__(
        self,
        config: ModelConfig,
        backend: Backend,
        layers: Sequence[Layer],
        adapters: StepAdapters | None = None,
        readout: Readout | None = None,
    ) -> None:
        """
        Args:
            adapters: what the layers' products go by, where they take adapters.
            readout: what is read of one of them.
        """
        self.config = config
        self._adapters = adapters
        self._layers = layers
        self._readout = readout
        self._fused, self._fused_rotary = _fuse(config, backend, layers)

    def __len__(self) -> int:
        return len(self._layers)

    @property
    def is_fused(self) -> bool:
        """Whether batches of few tokens are one operation."""
        return self._fused is not None

    @property
    def can_be_recorded(self) -> bool:
        """Whether a CUDA graph can hold all layers: it knows nothing of a readout's values."""
        return self._readout is None and not any(one.waits_for_device for one in self._layers)

    def __call__(
        self, x: Tensor, delta: Tensor | None, batch: Batch, caches: list[LayerCache]
    ) -> Hidden:
        """All layers over all tokens; writes their keys and values into `caches`."""
        if self._adapters is not None:
            self._adapters.rows = batch.adapters
        step = Step(batch, x.dtype)
        windowed = step.windowed()
        if self._fused is not None and self._fused_rotary and self._fused.takes(batch):
            angles = step.angles(self._fused_rotary)
            x = x if delta is None else x.add_(delta)
            hidden = self._fused(x, angles, batch, caches, self._readout)
            if batch.written is not None:
                batch.written(len(caches))
            return hidden
        read = -1 if self._readout is None else self._readout.layer
        for index, (layer, cache) in enumerate(zip(self._layers, caches, strict=True)):
            if index == read and self._readout and delta is not None:
                self._readout.store(x, delta, batch.slots)
            own = windowed if index in self.config.reach else step
            if index == self.config.num_layers - 1:
                own.enter_last_layer()
            x, delta = layer(x, delta, cache, own)
            if batch.written is not None:
                batch.written(index + 1)
        assert delta is not None
        return x, delta


class Layers(Protocol):
    """What a `LayerStack` can."""

    config: ModelConfig

    def __len__(self) -> int: ...

    @property
    def is_fused(self) -> bool: ...

    @property
    def can_be_recorded(self) -> bool: ...

    def __call__(
        self, x: Tensor, delta: Tensor | None, batch: Batch, caches: list[LayerCache]
    ) -> Hidden: ...


class Encoder:
    """A whole model that makes vectors of texts."""

    def __init__(self, config: ModelConfig, layers: Layers, ends: Ends) -> None:
        self.config = config
        self.layers = layers
        self._ends = ends

    def embed(self, batch: Batch) -> Tensor:
        """What enters the first layer, (T, hidden)."""
        embedded = self._ends.embed(batch)
        if batch.features is not None:
            embedded[batch.features.rows] = batch.features.values
        return embedded

    def hidden(self, batch: Batch, caches: list[LayerCache]) -> Hidden:
        """All layers over all tokens, the last as far as it is read; writes their keys and values
        into `caches`."""
        return self.layers(self.embed(batch), None, batch, caches)

    def normed(self, hidden: Hidden, rows: Tensor) -> Tensor:
        """What the last layer says of the given flat rows, normed, (R, hidden)."""
        x, delta = hidden
        return self._ends.normed(x[rows], delta[rows])


class Decoder(Encoder):
    """A whole model, or on a pipeline's first stage its ends and the first layers."""

    def __init__(self, config: ModelConfig, layers: Layers, ends: DecoderEnds) -> None:
        super().__init__(config, layers, ends)
        self._predicting = ends

    def __call__(self, batch: Batch, caches: list[LayerCache]) -> Tensor:
        """Logits (R, vocab) in float32 of the batch's `logits_rows`.

        Writes the keys and values of every token of the batch into `caches`.
        """
        read = replace(batch, read_rows=batch.logits_rows)
        return self.logits(self.hidden(read, caches), batch.logits_rows)

    def logits(self, hidden: Hidden, rows: Tensor) -> Tensor:
        """(R, vocab) in float32 of the given flat rows."""
        return self._predicting.logits(self.normed(hidden, rows)).float()


def _fuse(
    config: ModelConfig, backend: Backend, layers: Sequence[Layer]
) -> tuple[FusedLayers | None, Rotary | None]:
    """The layers as one operation, where all are of the kind and turn alike."""
    found = [parts for layer in layers if (parts := layer.parts()) is not None]
    if len(found) < len(layers) or len({rotary for _, rotary in found}) != 1:
        return None, None
    shape = LayerShape(
        config.hidden_size,
        config.num_heads,
        config.num_kv_heads,
        config.head_dim,
        config.rms_eps,
    )
    return backend.fuse(shape, [parts for parts, _ in found]), found[0][1]
