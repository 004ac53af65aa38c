# Each target makes what it needs by itself: Python 3.11 or later and make are enough to begin with.
# Another Python: make PYTHON=python3.12 test. Arguments for pytest: make test ARGS="-k cover".

PY := .venv/bin/python

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: up test test-system check fix protos protos-image bench prove help

up: .venv/local.stamp ## start the whole platform on this machine and play a hand of each rule set; Ctrl-C stops it
	@$(PY) -m services.local up $(ARGS)

test: .venv/dev.stamp ## every test that needs nothing but what pip installs
	$(PY) -m pytest $(ARGS)

test-system: .venv/system.stamp ## the tests against Debian's Chromium, Node, RabbitMQ, Postgres 15 and Prometheus
	@sh scripts/test-system $(ARGS)

check: .venv/dev.stamp ## format, lint, types, contracts, imports, docs
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	$(PY) -m mypy
	.venv/bin/buf lint
	.venv/bin/buf format --diff --exit-code
	.venv/bin/buf breaking --against protos/image.binpb
	$(PY) scripts/protos.py check
	$(PY) -m pytest --quiet tests/contract

fix: .venv/dev.stamp ## put right what the tools can put right by themselves
	.venv/bin/ruff check --fix --exit-zero --quiet .
	.venv/bin/ruff format .
	.venv/bin/buf format --write

protos: .venv/dev.stamp ## generate baohuang/rpc from protos/
	$(PY) scripts/protos.py generate

# At a release, or when a break with the last one is meant: from then on these are the contracts that may not break.
protos-image: .venv/dev.stamp ## renew the image that `make check` compares protos/ with
	.venv/bin/buf build --exclude-source-info --output protos/image.binpb

bench: .venv/dev.stamp ## measure speed; nothing is asserted
	$(PY) -m benchmarks $(ARGS)

prove: .venv/dev.stamp ## the long proofs, every property test with many more examples, the alerts and the image (as root, Debian 12)
	$(PY) -m pytest -m "(prove or hypothesis) and not system" --hypothesis-profile=prove $(ARGS)
	@[ -n "$(ARGS)" ] || sh scripts/test-system prove

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' Makefile

# One environment; the stamps say which of pyproject's extras are in it.
.venv/%.stamp: pyproject.toml constraints.txt scripts/venv
	@sh scripts/venv $*
