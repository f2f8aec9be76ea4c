"""What the engine's tests share: the real model's path, and a core that runs in-process."""

from __future__ import annotations

import ctypes
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
import torch
from hypothesis import settings

from inference.config import EngineConfig, KvDtype, SchedulerConfig
from inference.core import PromptImage, SamplingParams
from inference.engine.engine_core import EngineCore
from inference.kernels.cpu.compile import load_kernels
from inference.protocol import AddRequest
from inference.runner.model_runner import ModelRunner
from inference.text.load import load_text
from inference.text.tokenizer import TextTokenizer
from tests.inference.reference_answers import read_model
from tests.inference.serving import Served, serve
from tests.inference.tiny import make_tiny_model

# A test run shares its machine: how long an example takes says nothing.
settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")

DEFAULT_MODEL = Path("var/models/SmolLM2-135M-Instruct.Q4_1.gguf")


@pytest.fixture(scope="session")
def model_path() -> Path:
    path = Path(os.environ.get("PARLEY_MODEL_PATH", DEFAULT_MODEL))
    if not path.exists():
        pytest.fail(f"no model at {path}: set PARLEY_MODEL_PATH or run `make run` once")
    return path


@pytest.fixture(scope="session")
def tokenizer(model_path: Path) -> TextTokenizer:
    return load_text(str(model_path))[0]


def greedy(**changes) -> SamplingParams:
    return SamplingParams(**{"max_tokens": 16, "temperature": 0.0, **changes})


class Driver:
    """Runs requests through an engine core, step by step, and collects their tokens."""

    def __init__(self, core: EngineCore) -> None:
        self.core = core
        self.tokens: dict[str, list[int]] = {}
        self.reasons: dict[str, str] = {}
        self.cached: dict[str, int] = {}
        self.predicted: dict[str, tuple[int, int]] = {}
        self._count = 0

    def add(
        self,
        prompt: list[int],
        sampling: SamplingParams | None = None,
        *,
        priority: int = 0,
        salt: str = "",
        images: tuple[PromptImage, ...] = (),
        predicted: Sequence[int] = (),
        adapter_id: int = 0,
        public_tokens: int = 0,
    ) -> str:
        self._count += 1
        request_id = f"r{self._count}"
        self.core.add(
            AddRequest(
                request_id,
                prompt,
                sampling or greedy(),
                priority=priority,
                arrived_at=float(self._count),
                cache_salt=salt,
                public_tokens=public_tokens,
                images=images,
                adapter_id=adapter_id,
                predicted_token_ids=list(predicted),
            )
        )
        self.tokens[request_id] = []
        return request_id

    def step(self) -> None:
        for output in self.core.step():
            self.tokens[output.request_id] += output.new_token_ids
            self.cached[output.request_id] = output.cached_tokens
            self.predicted[output.request_id] = output.predicted
            if output.finish_reason:
                self.reasons[output.request_id] = output.finish_reason

    def run(self) -> dict[str, list[int]]:
        while self.core.scheduler.has_work:
            self.step()
        assert self.core.kv.pool.num_used == 0
        return self.tokens

    def generate(self, prompt: list[int], sampling: SamplingParams | None = None) -> list[int]:
        request_id = self.add(prompt, sampling)
        return self.run()[request_id]


def make_driver(
    folder: Path,
    kv_dtype: KvDtype = "auto",
    prefix_cache: bool = True,
    max_loras: int = 0,
    **scheduler,
) -> Driver:
    """An engine of 32 blocks on the small model in `folder`."""
    config = EngineConfig(
        model=str(folder),
        dtype="float32",
        kv_dtype=kv_dtype,
        num_blocks=32,
        prefix_cache=prefix_cache,
        num_threads=1,
        max_loras=max_loras,
        scheduler=SchedulerConfig(**scheduler),
    )
    return Driver(EngineCore(config, ModelRunner(config)))


def compiled(flags: str = "") -> ctypes.CDLL:
    """The C++ kernels; only a machine without a compiler may do without them."""
    if not any(map(shutil.which, (os.environ.get("CXX", "g++"), "clang++"))):
        pytest.skip("no C++ compiler on this machine")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CXXFLAGS", flags)
        loaded = load_kernels()
    assert loaded is not None, "the log says why they could not be built"
    return loaded


@pytest.fixture(scope="session")
def kernels() -> ctypes.CDLL:
    return compiled()


@pytest.fixture(scope="session")
def reference_model(model_path: Path) -> torch.nn.Module:
    """The default model as transformers reads its file, which takes it seconds: leave it as it
    is."""
    return read_model(model_path)


@pytest.fixture(scope="session")
def make_core(model_path: Path) -> Callable[..., EngineCore]:
    """Cores on the real model. Weights are shared; each core has a KV cache of its own."""
    runners: dict[tuple[object, ...], ModelRunner] = {}

    def make(
        *, num_blocks: int = 512, prefix_cache: bool = True, proposers=(), **scheduler
    ) -> EngineCore:
        config = EngineConfig(
            model=str(model_path),
            num_blocks=num_blocks,
            max_model_len=min(2048, num_blocks * 16),
            prefix_cache=prefix_cache,
            num_threads=1,  # a test run shares its machine; more threads would only wait
            scheduler=SchedulerConfig(**scheduler),
        )
        key = (num_blocks,)
        if key not in runners:
            runners[key] = ModelRunner(config)
        return EngineCore(config, runners[key], proposers)

    return make


@pytest.fixture(scope="session")
def served(model_path: Path) -> Iterator[Served]:
    """One server for all HTTP tests that leave it as they found it."""
    with serve(model_path, "--num-blocks", "512", "--max-num-seqs", "8") as running:
        yield running


@pytest.fixture(scope="session")
def tiny_served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server of a tiny random model (4 seats, context 256), for tests that need no sense."""
    model = make_tiny_model(tmp_path_factory.mktemp("tiny"))
    with serve(
        model, "--num-blocks", "128", "--max-num-seqs", "4", "--max-waiting", "8"
    ) as running:
        yield running


_WITHOUT_AVX2 = "-march=x86-64 -O1"
_VARIANTS = ["", "-mno-amx-tile -O1", "-march=haswell -O1", _WITHOUT_AVX2]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Kernels for a processor without AVX2 are tried at night, each test of them beside itself with
    the others."""
    for item in items:
        call = getattr(item, "callspec", None)
        if call and call.params.get("kernel_variants") == _WITHOUT_AVX2:
            beside = item.nodeid.partition("[")[0]
            item.add_marker(pytest.mark.nightly(beside=beside))


@pytest.fixture(scope="module", params=_VARIANTS)
def kernel_variants(request):
    """As this processor would have them, without tiles, in AVX2 and without either. At -O3 another
    processor's take the compiler half a minute, at -O1 ten seconds."""
    processor = Path("/proc/cpuinfo").read_text()
    has_more_than = "amx_bf16" if "amx" in request.param else "avx512_vnni"
    if request.param and has_more_than not in processor:
        pytest.skip("this processor has no more than that")
    library = compiled(request.param)
    library.parley_allow_tiles(1)
    yield library
    library.parley_allow_tiles(0)
