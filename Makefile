# `make run` and `make test` are all that a newcomer needs; `make help` lists the rest.
# Stamp files hold what is done: nothing is repeated until what it depends on has changed.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

PORT ?= 8000
HOST ?= 127.0.0.1
URL ?= http://127.0.0.1:$(PORT)
KEY ?=
# Of `run`: a name in infra/models, or small. Of `bench`: a file.
MODEL ?=
SMALL_MODEL := var/models/SmolLM2-135M-Instruct.Q4_1.gguf
LARGE_MODEL := var/models/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf
# Which Python makes the environment; when none is named, the first of these that is not clearly slower
# than the quickest (infra/interpreter.py): one that pyenv compiled takes a third longer than Debian's.
PYTHON ?=
PYTHONS := $(or $(PYTHON),python3 python3.13 python3.12 python3.11 /usr/bin/python3)

VENV := .venv
IN_VENV := $(VENV)/bin/python
# The environment belongs to one state of the two files: another state is another stamp.
PACKAGES := $(shell cat pyproject.toml constraints.txt | sha256sum | cut -c1-16)
RUN_STAMP := $(VENV)/.parley-run-$(PACKAGES)
DEV_STAMP := $(VENV)/.parley-dev-$(PACKAGES)

# Containers often forbid Python to keep what it compiled; a dozen processes would do it all again.
unexport PYTHONDONTWRITEBYTECODE
INSTALL := $(IN_VENV) -m infra.install
# Of hundreds of lines only those that explain a wait.
LARGE_PACKAGES_ONLY := awk '/(Downloading|Processing) .*[0-9][0-9](\.[0-9])? ?Mi?B|Installing collected|(Prepared|Installed) [0-9]|ERROR|error:/ { print "    " substr($$0, 1, 110); fflush() }'

.PHONY: run
run: $(RUN_STAMP) ## Start the whole product on http://127.0.0.1:8000 (PORT=…, HOST=…, MODEL=small)
	@exec $(IN_VENV) manage.py up --host "$(HOST)" --port "$(PORT)" $(if $(MODEL),--model "$(MODEL)")

.PHONY: voice
voice: $(VENV)/bin/pip ## Dictation and reading aloud: their packages and models, 300 MB; then `make run`
	@$(INSTALL) '.[voice,voice-containers]' 2>&1 | $(LARGE_PACKAGES_ONLY)
	@rm -rf build parley.egg-info
	@# gruut's package brings a top-level `tests`, which would hide ours from the type checker.
	@rm -rf $(VENV)/lib/python3*/site-packages/tests
	@$(IN_VENV) -m voice fetch

.PHONY: test-voice
test-voice: $(DEV_STAMP) voice ## What is spoken is understood again, with the real models
	@PARLEY_TEST_VOICE=1 $(IN_VENV) -m pytest tests/voice -q

.PHONY: test-ray
test-ray: $(DEV_STAMP) ## Engines on a Ray cluster of this machine: healing, scaling, draining, rolls (499 MB)
	@$(INSTALL) '.[ray]' 2>&1 | $(LARGE_PACKAGES_ONLY)
	@rm -rf build parley.egg-info
	@# Compiled: the start of a node is mostly imports.
	@$(IN_VENV) -m compileall -q -j 0 $(VENV)/lib/python3*/site-packages/{ray,google,grpc,opencensus,opentelemetry}
	@PARLEY_TEST_RAY=1 $(IN_VENV) -m pytest tests/infra/ray -q -s

.PHONY: test-kafka
test-kafka: $(DEV_STAMP) ## Billing and its chaos against Apache Kafka itself (Java 17; jars by Maven, or KAFKA_LIBS=FOLDER)
	@$(IN_VENV) -m tests.kafka

.PHONY: test
test: $(DEV_STAMP) ## Everything that proves the product: linters, types, all tests
	@$(IN_VENV) -m infra.checks

.PHONY: test-all
test-all: $(DEV_STAMP) ## The same, and the same promises at every size, kind and format: a night's work
	@$(IN_VENV) -m infra.checks --nightly

.PHONY: lint
lint: $(DEV_STAMP) ## Only the linters and type checkers
	@$(IN_VENV) -m infra.checks --only lint

.PHONY: format
format: $(DEV_STAMP) ## Let the tools lay out the code
	@$(VENV)/bin/ruff check --fix --quiet .
	@$(VENV)/bin/ruff format --quiet .
	@$(IN_VENV) -m infra.checks --only format

.PHONY: messages
messages: $(DEV_STAMP) ## Take the texts of mails and invoices out of the code, compile their translations
	@$(IN_VENV) -m infra.messages

.PHONY: audit
audit: $(DEV_STAMP) ## Ask the registries what is known against the pinned packages
	@$(IN_VENV) -m infra.dependencies audit

.PHONY: sbom
sbom: $(DEV_STAMP) ## The bill of materials (CycloneDX) of Python and page, in var/sbom
	@$(IN_VENV) -m infra.dependencies sbom

.PHONY: bench
bench: $(DEV_STAMP) ## The engine beside its peers and the machine's limits, both models (MODEL=FILE, ARGS=--quick)
	@$(IN_VENV) -m inference.bench --model $(or $(MODEL),$(SMALL_MODEL) $(wildcard $(LARGE_MODEL))) $(ARGS)

.PHONY: eval
eval: $(DEV_STAMP) ## How good the models' answers are, for each way of computing them (MODEL=FILE)
	@$(IN_VENV) -m inference.bench.quality --model $(or $(MODEL),$(SMALL_MODEL) $(wildcard $(LARGE_MODEL))) $(ARGS)

.PHONY: bench-context
bench-context: $(DEV_STAMP) ## What long contexts cost: first tokens, rates, memory, Python (MODEL=FILE, ARGS=--lengths …)
	@$(IN_VENV) -m inference.bench.context --model $(or $(MODEL),$(wildcard $(LARGE_MODEL)) random) $(ARGS)

.PHONY: bench-gpu
bench-gpu: $(DEV_STAMP) ## The engine's kernels on a GPU beside what the device can do
	@$(IN_VENV) -m inference.bench.gpu

.PHONY: bench-gateway
bench-gateway: $(DEV_STAMP) ## How many streams one web process holds, and what it adds to them
	@$(IN_VENV) -m infra.load.gateway $(if $(ENGINE),--engine) $(if $(RELAY),--relay) \
		$(if $(ADMISSIONS),--admissions)

.PHONY: bench-registration
bench-registration: $(DEV_STAMP) ## How soon a new engine is used, and one that is gone is not (ARGS="--runs 5")
	@$(IN_VENV) -m infra.load.registration $(ARGS)

.PHONY: load
load: $(DEV_STAMP) ## Ten times the load that can be served: who is refused, how fast, who goes first
	@$(IN_VENV) -m infra.load.overload

.PHONY: simulate
simulate: $(DEV_STAMP) ## A fleet of 10,000 GPUs in simulated time, tables and plots in var/simulator (ARGS="day --part 20")
	@$(IN_VENV) -m infra.simulator run --plots var/simulator $(ARGS)

.PHONY: bench-billing
bench-billing: $(DEV_STAMP) ## How many usage events a second one aggregator stores
	@$(IN_VENV) manage.py with-services bench_billing --kafka --export 1000000

.PHONY: bench-batches
bench-batches: $(DEV_STAMP) ## What a batch of 100,000 lines costs to read and write, in memory too (ARGS=--lines …)
	@$(IN_VENV) manage.py with-services bench_batches $(ARGS)

.PHONY: bench-batch-speed
bench-batch-speed: $(DEV_STAMP) ## How busy a batch keeps the engine, beside driving it directly (ARGS=--at-once …)
	@$(IN_VENV) -m infra.load.batches $(ARGS)

.PHONY: bench-partitions
bench-partitions: $(DEV_STAMP) ## What it takes to partition five million usage events online (ARGS=--rows …)
	@$(IN_VENV) manage.py with-services bench_partitions $(ARGS)

.PHONY: bench-ledger-partitions
bench-ledger-partitions: $(DEV_STAMP) ## The same for five million ledger records, from the release before (ARGS=--rows …)
	@$(IN_VENV) manage.py with-services bench_ledger_partitions $(ARGS)

.PHONY: bench-message-partitions
bench-message-partitions: $(DEV_STAMP) ## Whether partitions by month would help messages (ARGS=--rows …)
	@$(IN_VENV) manage.py with-services bench_message_partitions $(ARGS)

.PHONY: bench-retrieval
bench-retrieval: $(DEV_STAMP) ## How well passages of files are found, beside plain BM25
	@$(IN_VENV) manage.py with-services bench_retrieval

.PHONY: bench-reconciliation
bench-reconciliation: $(DEV_STAMP) ## What a run of reconciliation costs, as a share of a core (ARGS=--records …)
	@$(IN_VENV) manage.py with-services bench_reconciliation $(ARGS)

.PHONY: bench-usage
bench-usage: $(DEV_STAMP) ## What a month of five million records costs to look at (ARGS=--records …)
	@$(IN_VENV) -m infra.load.usage $(ARGS)

.PHONY: bench-page
bench-page: $(DEV_STAMP) ## The page in a browser: Lighthouse, a chat of 1,000 messages, memory (ARGS="--only open")
	@$(IN_VENV) -m infra.load.page $(ARGS)

.PHONY: bench-safety
bench-safety: $(DEV_STAMP) ## How much harm the classifiers catch, and how many honest prompts
	@$(INSTALL) '.[safety-train]' 2>&1 | $(LARGE_PACKAGES_ONLY)
	@$(IN_VENV) -m safety.training.bench

LOGIN ?= var/demo-login.txt
.PHONY: redteam
redteam: $(DEV_STAMP) ## Attack a running product: make redteam KEY=sk-parley-… (URL=… LOGIN=FILE)
	@[ -n "$(KEY)" ] || { echo "redteam needs an API key of the product that runs: make redteam KEY=sk-parley-…"; exit 2; }
	@$(IN_VENV) -m safety.training.redteam --base-url "$(URL)" --api-key "$(KEY)" --login "$(LOGIN)"

SEEDS ?= 1 2 3
STEPS ?= 300
KILLS ?= 1000
.PHONY: chaos
chaos: chaos-kills chaos-money chaos-doors chaos-fleet ## All four, some hours: a night's work

.PHONY: chaos-kills
chaos-kills: $(DEV_STAMP) ## A hundred kills and freezes in a minute, by seed, under readers at every door: SEEDS="1 2 3"
	@for seed in $(SEEDS); do \
		PARLEY_CHAOS_SEED=$$seed PARLEY_CHAOS_KILLS=100 $(VENV)/bin/pytest tests/chaos/test_random_kills.py -x -q -s || exit 1; \
	done

.PHONY: chaos-money
chaos-money: $(DEV_STAMP) ## Kill everything under real traffic, then count the money: SEEDS="1 2 3" STEPS=300
	@for seed in $(SEEDS); do \
		PARLEY_CHAOS_SEED=$$seed PARLEY_CHAOS_STEPS=$(STEPS) $(VENV)/bin/pytest tests/chaos/money -k night -x -q -s || exit 1; \
	done

.PHONY: chaos-doors
chaos-doors: $(DEV_STAMP) ## Kill and freeze what `make run` starts, then count the characters: KILLS=1000 SEED=1
	@PARLEY_CHAOS_SEED=$(or $(SEED),1) PARLEY_CHAOS_KILLS=$(KILLS) \
		$(VENV)/bin/pytest tests/chaos/test_faults_at_the_doors.py -x -q -s

.PHONY: chaos-fleet
chaos-fleet: $(DEV_STAMP) ## Four engines that die, freeze, are cut off, drain and are replaced under load: QUEUE=shared, or own
	@PARLEY_CHAOS_FLEET=1 $(VENV)/bin/pytest tests/chaos/fleet -x -q -s -k "$(or $(QUEUE),shared)"

.PHONY: tenant-walk
tenant-walk: $(DEV_STAMP) ## Random requests for what is another organization's: make tenant-walk TRIES=10000 (SEED=…)
	@TRIES=$(or $(TRIES),10000) SEED=$(SEED) $(IN_VENV) -m pytest tests/tenancy -q -s --timeout 0

.PHONY: asvs
asvs: $(DEV_STAMP) ## Break what docs/security.md says is held by a test, see the test fail: an hour (ARGS="6. 9.1")
	@$(IN_VENV) -m tests.asvs $(ARGS)

.PHONY: clients
clients: $(DEV_STAMP) ## LiteLLM's client and OpenAI's Agents SDK, in an environment of their own, against the product
	@$(IN_VENV) -m pip install -q --upgrade --target var/clients -r tests/contract/clients.txt
	@$(IN_VENV) -m pytest tests/contract/test_separate_clients.py -q

.PHONY: model-router
model-router: $(DEV_STAMP) ## Train what sends simple prompts of `auto` to a small model (ARGS="--collect SMALL LARGE")
	@$(INSTALL) '.[safety-train]' 2>&1 | $(LARGE_PACKAGES_ONLY)
	@$(IN_VENV) -m infra.model_router $(ARGS)

.PHONY: bench-peers
bench-peers: $(DEV_STAMP) ## What `make bench` compares with: llama.cpp (built here, some minutes) and OpenVINO
	@$(INSTALL) '.[bench]' 2>&1 | $(LARGE_PACKAGES_ONLY)
	@rm -rf build parley.egg-info

VLLM := var/bench/vllm
.PHONY: bench-vllm
bench-vllm: $(DEV_STAMP) ## vLLM's build for processors, another peer of `make bench`, in an environment of its own (3 GB)
	@test -x $(VLLM)/bin/pip || $(IN_VENV) -m venv $(VLLM)
	@$(VLLM)/bin/pip install --quiet --disable-pip-version-check --no-compile --no-deps -r inference/bench/peers/vllm.txt

ROUTERS := var/bench/routers
.PHONY: bench-routers
bench-routers: $(DEV_STAMP) ## Routing by cached prefixes beside sglang-router and vllm-router (150 MB)
	@test -x $(ROUTERS)/bin/pip || $(IN_VENV) -m venv $(ROUTERS)
	@$(ROUTERS)/bin/pip install --quiet --disable-pip-version-check --no-compile --only-binary :all: \
		-c constraints.txt -r infra/load/routing/routers.txt
	@$(IN_VENV) -m infra.load.routing $(ARGS)

.PHONY: redteam-answers
redteam-answers: $(DEV_STAMP) ## Stream known harmful answers through the product: what is delivered of them
	@$(IN_VENV) -m infra.load.answers

.PHONY: align
align: $(DEV_STAMP) ## Teach the default model what people prefer (PAIRS=pairs.jsonl), keep what holds
	@$(INSTALL) '.[safety-align]' 2>&1 | $(LARGE_PACKAGES_ONLY)
	@$(IN_VENV) -m safety.training.align $(if $(PAIRS),--pairs "$(PAIRS)")

EXAMPLES ?= 30
ROUTES ?=
.PHONY: fuzz
fuzz: $(DEV_STAMP) ## Every route with many bodies that fit its schema, and many that do not (EXAMPLES=30, ROUTES=/v1/files)
	@PARLEY_FUZZ_EXAMPLES=$(EXAMPLES) PARLEY_FUZZ_ROUTES=$(ROUTES) $(VENV)/bin/pytest tests/api/test_fuzzing.py -q

.PHONY: clean
clean: ## Remove what can be made again; data and downloads in var/ stay
	rm -rf $(VENV) frontend/node_modules backend/static/app .mypy_cache .ruff_cache .pytest_cache
	rm -rf .hypothesis .import_linter_cache build parley.egg-info
	find . -name __pycache__ -not -path './var/*' -prune -exec rm -rf {} +

.PHONY: help
help: ## This list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 20

# A python3 in the PATH may be a shim that only complains, so each is asked, not only looked up.
$(VENV)/bin/pip:
	@for asked in $(PYTHONS); do \
		tried=$$("$$asked" infra/interpreter.py $(PYTHONS) 2>/dev/null) || continue; \
		for python in $$tried; do \
			echo "  → make $(VENV) with $$("$$python" --version) ($$python)"; \
			"$$python" -m venv $(VENV) && exit 0; \
			rm -rf $(VENV); \
		done; \
		break; \
	done; \
	echo "Parley needs Python 3.11, 3.12 or 3.13 that can make virtual environments (on Debian python3-venv)."; \
	echo "Name one with PYTHON=/path/to/python."; exit 1

$(RUN_STAMP): $(VENV)/bin/pip
	@echo "  → install Python packages (some minutes the first time, torch is large)"
	@$(INSTALL) '.[engine,embedded,ocr]' 2>&1 | $(LARGE_PACKAGES_ONLY)
	@rm -rf build parley.egg-info $(VENV)/.parley-run-*
	@touch $@

$(DEV_STAMP): $(VENV)/bin/pip
	@echo "  → install Python packages for development (some minutes the first time, torch is large)"
	@$(INSTALL) '.[engine,embedded,ocr,dev]' 2>&1 | $(LARGE_PACKAGES_ONLY)
	@rm -rf build parley.egg-info $(VENV)/.parley-*
	@touch $(RUN_STAMP) $@
