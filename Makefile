# Everything a host or a developer does starts here. Needs make and Python 3.11 or newer; the rest is set up on first use.

PYTHON ?= python3
HOST   ?= 127.0.0.1
PORT   ?= 8000
DATA   ?= data
# One more than the cores of a small machine: many tests wait for a browser or another process.
WORKERS ?= 3
# How long the two open-ended tests run.
CALLS  ?= 10000
ROUNDS ?= 1000

VENV := .venv
BIN  := $(VENV)/bin
PIP  := $(BIN)/python -m pip --disable-pip-version-check --quiet --quiet
# A wheel is checked against its hash; a source build would fetch tools that no lock names.
PIP_LOCKED := $(PIP) install --require-hashes --only-binary :all:
PIP_SELF   := $(PIP) install --no-build-isolation --no-deps --no-index --editable .

VENV_STAMP    := $(VENV)/.stamp-venv
RUNTIME_STAMP := $(VENV)/.stamp-runtime
DEV_STAMP     := $(VENV)/.stamp-dev
PEERS_STAMP   := peers/node_modules/.stamp
WEB_STAMP     := src/zataku/server/web/.stamp
WEB_SOURCES   := $(shell find web -path web/node_modules -prune -o -type f -print)
# The development set contains the runtime set, so a developer's machine serves from it.
SERVE_STAMP   := $(if $(wildcard $(DEV_STAMP)),$(DEV_STAMP),$(RUNTIME_STAMP))

# What Debian must provide, as command:package pairs for scripts/system.sh.
SYSTEM_NEEDS := chromium:chromium redis-server:redis-server

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup system serve test check fmt designs types lock peers web twins crash bench bench-store bench-layout bench-realtime bench-live attack clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(DEV_STAMP) $(WEB_STAMP) ## Set up .venv and the web pages, with everything needed to develop

system: ## Install missing Debian packages (as root), or say which are missing
	@sh scripts/system.sh $(SYSTEM_NEEDS)

serve: $(SERVE_STAMP) $(WEB_STAMP) ## Start Zataku (HOST, PORT, DATA can be set)
	@exec $(BIN)/zataku serve --host $(HOST) --port $(PORT) --data $(DATA)

test: check $(PEERS_STAMP) ## Run every check and every test
	@sh scripts/system.sh $(SYSTEM_NEEDS) || echo "Tests that need them are left out." >&2
	@# Neighbours stay in one process and share what they set up; compiled modules are kept for all that tests start.
	@# Native tracebacks are made without parsing source, which Python 3.11 cannot do in two threads at once.
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/pytest -n $(WORKERS) --dist worksteal --tb=native

check: $(DEV_STAMP) $(WEB_STAMP) ## Lint, formatting, types and the direction of imports
	@sh scripts/parallel.sh "$(BIN)/basedpyright" \
	  "$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/lint-imports && cd web && \
	  sh ../scripts/node.sh npm run --silent check && sh ../scripts/node.sh npm run --silent test"

fmt: $(DEV_STAMP) ## Format the code and fix what ruff can fix
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

designs: $(DEV_STAMP) ## Regenerate docs/designs from the designs
	@unset ZATAKU_DESIGNS ZATAKU_RANKING_TABLE; for name in $$($(BIN)/python -m zataku.server.systems); do \
	  $(BIN)/zataku design export markdown $$name --output docs/designs/$$name.md || exit 1; done

types: $(DEV_STAMP) ## Regenerate the types of the web pages from the Python structs
	$(BIN)/python -m zataku.server.typescript.generate web/src/generated.ts

lock: $(DEV_STAMP) ## Write the lock files again (UPGRADE=--upgrade to take new versions)
	BIN=$(BIN) sh scripts/lock.sh $(UPGRADE)

web: $(WEB_STAMP) ## Build the web pages

peers: $(PEERS_STAMP) ## Install the programs that tests and benchmarks measure against

twins: $(DEV_STAMP) $(PEERS_STAMP) ## Make CALLS random calls on the embedded store and dynoxide, and print what differs
	$(BIN)/python -m tests.table.differential --calls $(CALLS) $(if $(SEED),--seed $(SEED))

crash: $(DEV_STAMP) ## Kill a writer of the embedded store ROUNDS times, and print what was lost
	$(BIN)/python -m tests.table.embedded.crash --rounds $(ROUNDS) $(if $(SEED),--seed $(SEED))

bench: bench-store bench-layout bench-realtime bench-live ## Run every benchmark

bench-store: $(DEV_STAMP) $(PEERS_STAMP) ## Measure the embedded store beside raw apsw and dynoxide
	$(BIN)/python -m bench.store

bench-layout: $(DEV_STAMP) ## Measure how items can lie in SQLite
	$(BIN)/python -m bench.layout

bench-realtime: $(DEV_STAMP) ## Measure messages to 2,000 sockets beside a plain broadcast loop
	$(BIN)/python -m bench.realtime

bench-live: $(DEV_STAMP) ## Measure comments to 5,000 sockets in one room beside a plain broadcast loop
	$(BIN)/python -m bench.live

attack: $(DEV_STAMP) ## Attack a fresh server while an audience of 200 measures how long it waits
	$(BIN)/python -m bench.attack

clean: ## Remove the set-up and every cache; your data stays
	rm -rf $(VENV) peers/node_modules web/node_modules src/zataku/server/web build dist .hypothesis .pytest_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV_STAMP):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Zataku needs Python 3.11 or newer; '$(PYTHON)' is not. Try: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
	  { echo "'$(PYTHON)' cannot make a virtual environment. On Debian: apt-get install python3-venv" >&2; exit 1; }
	@touch $@

$(RUNTIME_STAMP): requirements/runtime.txt pyproject.toml | $(VENV_STAMP)
	@echo "Setting up Zataku (once) ..."
	@$(PIP_LOCKED) -r requirements/runtime.txt
	@$(PIP_SELF)
	@touch $@

$(DEV_STAMP): requirements/dev.txt pyproject.toml | $(VENV_STAMP)
	@echo "Setting up the development tools (once) ..."
	@$(PIP_LOCKED) -r requirements/dev.txt
	@$(PIP_SELF)
	@touch $@

$(PEERS_STAMP): peers/package.json peers/package-lock.json peers/.npmrc scripts/npm_install.sh | $(VENV_STAMP)
	@sh scripts/peers.sh
	@touch $@

$(WEB_STAMP): $(WEB_SOURCES) scripts/web.sh scripts/npm_install.sh | $(VENV_STAMP)
	@echo "Building the web pages ..."
	@sh scripts/web.sh
	@touch $@
