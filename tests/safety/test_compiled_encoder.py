"""The encoder by our own kernels says what onnxruntime says of the same words."""

import ctypes
import random
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from safety.score.artefacts import read_checked, read_checked_bytes
from safety.score.classifier import ENCODER_FILE, MODEL_FILE, Classifier, word_pieces_in
from safety.score.compiled_encoder import CompiledLayers, compiled_layers
from safety.score.encoder import MAX_PIECES, Encoder, Layers, onnxruntime_layers, unit
from safety.score.kernels import ahead
from safety.score.kernels import compile as kernels
from safety.score.onnx_file import UnreadableGraph, read_graph
from safety.training.example import OWN_DATA, lines

AVX2 = kernels.LEVELS[-1]
APART = 0.06
"""How far two scores of a text may be apart: a value that one of both rounds up and the other down
changes all that follows. `python -m safety.training.bench_encoder` says how often that happens."""


@pytest.fixture(scope="module")
def graph() -> bytes:
    return read_checked_bytes(ENCODER_FILE)


@pytest.fixture(scope="module")
def theirs(graph: bytes) -> Layers:
    """What onnxruntime says, of each text once: it is asked of it for every set of instructions."""
    layers, known = onnxruntime_layers(graph), {}

    def remembered(vectors: np.ndarray) -> np.ndarray:
        text = vectors.tobytes()
        if text not in known:
            known[text] = layers(vectors)
        return known[text]

    return remembered


@pytest.fixture(scope="module")
def has_compiler() -> None:
    if kernels.best_level() is None or shutil.which("g++") is None:
        pytest.skip("needs AVX2 and g++")


@pytest.fixture(scope="module", params=kernels.LEVELS, ids=lambda level: level.name)
def ours(request, graph: bytes, has_compiler: None) -> CompiledLayers:
    """For each set of instructions that this processor has. As a process does that has none built
    beforehand: each library is compiled once for this user, and kept."""
    level, best = request.param, kernels.best_level()
    if best is None or not level.needs <= best.needs:
        pytest.skip(f"needs {level.name}")
    return CompiledLayers(ctypes.CDLL(str(kernels.compiled(level))), graph)


def own_texts(count: int) -> list[str]:
    found = [text for path in sorted(OWN_DATA.rglob("*.txt")) for text in lines(path)]
    random.Random(1).shuffle(found)
    return found[:count]


def test_vector_is_onnxruntimes_at_every_length(ours, theirs, graph) -> None:
    encoder = Encoder(word_pieces_in(read_checked(MODEL_FILE)), graph, ours)
    words = " ".join(own_texts(60)).lower().split()
    likeness = []
    for pieces in range(1, MAX_PIECES + 1):
        for start in (0, 60):
            vectors = encoder.begin(words[start : start + MAX_PIECES])[:pieces]
            mine, other = ours(vectors), theirs(vectors)
            likeness.append(float(unit(mine) @ unit(other)))
    assert min(likeness) > 0.97
    assert np.mean(np.array(likeness) > 1 - 1e-5) > 0.6


def test_verdicts_are_onnxruntimes(ours, theirs, graph) -> None:
    arrays = read_checked(MODEL_FILE)
    pieces = word_pieces_in(arrays)
    mine, other = (
        Classifier(arrays, Encoder(pieces, graph, layers), is_slow=False)
        for layers in (ours, theirs)
    )
    stopped = 0
    for text in own_texts(80):
        first, second = (model.estimate(model.normalized(text)) for model in (mine, other))
        for score, expected, limit in (
            (first.harmful, second.harmful, 0.8),
            (first.attack, second.attack, 0.95),
        ):
            assert score == pytest.approx(expected, abs=APART), text
            assert (score >= limit) == (expected >= limit) or abs(expected - limit) < APART, text
            stopped += expected >= limit
    assert stopped > 10


def test_threads_that_encode_at_once_do_not_disturb_each_other(ours) -> None:
    random_numbers = np.random.default_rng(0)
    texts = [
        random_numbers.normal(0, 0.3, (pieces, 384)).astype(np.float32)
        for pieces in range(2, MAX_PIECES + 1)
    ]
    alone = [ours(vectors) for vectors in texts]
    with ThreadPoolExecutor(8) as threads:
        for _ in range(3):
            for expected, found in zip(alone, threads.map(ours, texts), strict=True):
                np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("shape", [(0, 384), (MAX_PIECES + 1, 384), (3, 383), (384,)])
def test_vectors_of_another_shape_are_refused(ours, shape) -> None:
    with pytest.raises(ValueError, match=r"pieces"):
        ours(np.zeros(shape, dtype=np.float32))


def test_vectors_that_are_not_contiguous_are_read_in_their_order(ours) -> None:
    vectors = np.random.default_rng(1).normal(0, 0.3, (384, 5)).astype(np.float32).T
    np.testing.assert_array_equal(ours(vectors), ours(vectors.copy()))


def test_onnxruntime_runs_the_encoder_where_nothing_can_be_compiled(
    graph, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr(kernels, "BUILT", tmp_path / "built")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("CXX", raising=False)
    assert compiled_layers(graph) is None
    encoder = Encoder(word_pieces_in(read_checked(MODEL_FILE)), graph)
    assert np.linalg.norm(encoder.encode(["a", "harmless", "question"])) == pytest.approx(1.0)


def test_compiler_that_fails_leaves_the_encoder_to_onnxruntime(
    graph, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr(kernels, "BUILT", tmp_path / "built")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("CXX", "false")
    assert compiled_layers(graph) is None


def test_processor_of_another_kind_has_no_kernels(monkeypatch) -> None:
    monkeypatch.setattr(kernels.platform, "machine", lambda: "aarch64")
    assert kernels.best_level() is None
    assert kernels.load() is None


@pytest.mark.parametrize(
    ("has", "level"),
    [
        (kernels.LEVELS[0].needs | {"amx_tile"}, "vnni"),
        (AVX2.needs | {"avx512f"}, "avx2"),
        (AVX2.needs - {"fma"}, None),
    ],
)
def test_best_library_that_the_processor_can_run_is_taken(has, level, tmp_path, monkeypatch):
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(f"processor : 0\nflags\t\t: {' '.join(sorted(has))}\n")
    monkeypatch.setattr(kernels, "_CPUINFO", cpuinfo)
    monkeypatch.setattr(kernels.platform, "machine", lambda: "x86_64")
    found = kernels.best_level()
    assert (found.name if found else None) == level


def test_image_has_a_library_for_every_set_of_instructions(
    has_compiler: None, tmp_path: Path, monkeypatch
) -> None:
    """Of a source that is compiled in no time; the real one is, for every set, above."""
    source = tmp_path / "source.cpp"
    source.write_text('extern "C" int answer() { return 42; }')
    monkeypatch.setattr(kernels, "_SOURCE", source)
    monkeypatch.setattr(ahead, "BUILT", tmp_path / "built")
    ahead.main()
    libraries = [kernels.library_path(level, ahead.BUILT) for level in kernels.LEVELS]
    assert sorted(ahead.BUILT.iterdir()) == sorted(libraries)
    assert ctypes.CDLL(str(kernels.library_path(AVX2, ahead.BUILT))).answer() == 42


def test_library_that_was_built_beforehand_needs_no_compiler(
    graph, has_compiler: None, tmp_path: Path, monkeypatch
) -> None:
    best = kernels.best_level()
    assert best is not None
    built = tmp_path / "built"
    built.mkdir()
    shutil.copy(kernels.compiled(best), kernels.library_path(best, built))
    monkeypatch.setattr(kernels, "BUILT", built)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("CXX", raising=False)
    assert compiled_layers(graph) is not None


def test_library_of_another_source_is_not_taken(tmp_path: Path, monkeypatch) -> None:
    of_this = kernels.library_path(AVX2, tmp_path)
    other = tmp_path / "encoder.cpp"
    other.write_bytes(kernels._SOURCE.read_bytes() + b"\n")
    monkeypatch.setattr(kernels, "_SOURCES", (other, *kernels._SOURCES[1:]))
    assert kernels.library_path(AVX2, tmp_path) != of_this


def test_graph_that_is_cut_off_is_refused(graph) -> None:
    for length in (0, 10, 1_000, len(graph) // 2):
        with pytest.raises(UnreadableGraph):
            read_graph(graph[:length])


def test_graph_of_another_function_is_left_to_onnxruntime(graph, caplog) -> None:
    if kernels.load() is None:
        pytest.skip("needs AVX2 and g++")
    relu = graph.replace(b"\x22\x03Erf", b"\x22\x03Abs")
    assert relu != graph
    assert compiled_layers(relu) is None
    assert "computes something else" in caplog.text
