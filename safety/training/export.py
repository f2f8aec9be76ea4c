"""A trained MiniLM as an ONNX graph of eight-bit weights, for `safety.score.encoder`.

Weights are rounded to seven of the eight bits: with all eight, the integer instructions of
processors without VNNI overflow, and results would differ from machine to machine.
"""

import math
import tempfile
from pathlib import Path
from typing import cast

import onnx
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import Tensor, nn

from safety.score.encoder import SIZE
from safety.training.minilm import HEADS, EncoderLayer, MiniLM


class _ForOneText(nn.Module):
    """The norm, the layers and the mean over the pieces, for one text [pieces, SIZE]."""

    def __init__(self, network: MiniLM) -> None:
        super().__init__()
        self.norm = network.norm
        layers = (_EncoderLayerForOneText(cast(EncoderLayer, layer)) for layer in network.layers)
        self.layers = nn.Sequential(*layers)

    def forward(self, vectors: Tensor) -> Tensor:
        mean: Tensor = self.layers(self.norm(vectors)).mean(0)
        return mean


class _EncoderLayerForOneText(nn.Module):
    """The same function for a single text [pieces, SIZE], with fewer and larger products."""

    def __init__(self, layer: EncoderLayer) -> None:
        super().__init__()
        scale = math.sqrt(SIZE // HEADS)
        parts = (layer.query, layer.key, layer.value)
        self.all_three = nn.Linear(SIZE, 3 * SIZE)
        with torch.no_grad():
            self.all_three.weight.copy_(torch.cat([part.weight for part in parts]))
            self.all_three.bias.copy_(torch.cat([part.bias for part in parts]))
            self.all_three.weight[:SIZE] /= scale
            self.all_three.bias[:SIZE] /= scale
        self.layer = layer

    def forward(self, texts: Tensor) -> Tensor:
        joined = self.all_three(texts).view(-1, 3, HEADS, SIZE // HEADS)
        query, key, value = joined.permute(1, 2, 0, 3).unbind(0)
        shares = torch.softmax(query @ key.transpose(1, 2), dim=-1)
        mixed = self.layer.mixed((shares @ value).transpose(0, 1).reshape(-1, SIZE))
        attended = self.layer.after_attention(texts + mixed)
        wide = nn.functional.gelu(self.layer.wide(attended))
        after: Tensor = self.layer.after_all(attended + self.layer.narrow(wide))
        return after


def encoder_graph(network: MiniLM) -> bytes:
    """The ONNX model of the encoder; the same bytes from the same weights and versions of the
    libraries."""
    with tempfile.TemporaryDirectory(prefix="parley-export-") as name:
        whole, small = Path(name) / "whole.onnx", Path(name) / "small.onnx"
        torch.onnx.export(
            _ForOneText(network).eval(),
            (torch.zeros(8, SIZE),),
            str(whole),
            input_names=["vectors"],
            output_names=["mean"],
            dynamic_axes={"vectors": {0: "pieces"}},
            opset_version=17,
            dynamo=False,
        )
        quantize_dynamic(
            whole, small, weight_type=QuantType.QInt8, per_channel=True, reduce_range=True
        )
        model = onnx.load(small)
    model.doc_string = ""
    for node in model.graph.node:
        node.doc_string = ""
    data: bytes = model.SerializeToString(deterministic=True)
    return data
