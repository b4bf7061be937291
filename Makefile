# Every target creates what it needs. PYTHON names another interpreter than python3.
PYTHON ?= python3
BIN := .venv/bin
ARGS ?=
ENGINES ?= argocd flux
STORY ?= whole
# Stories in a cluster take minutes, and each wait in them has an end of its own.
WITHOUT_TIMEOUT := -o faulthandler_timeout=0
# Without it each of the many processes of the tests compiles what it imports anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: render validate test test-long coverage e2e engines lint bench docs docs-serve lock clean

render: .venv/ready
	$(BIN)/berth render $(ARGS)

validate: .venv/ready
	$(BIN)/berth validate $(ARGS)

test: .venv/ready
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not long" --ignore=tests/e2e $(ARGS)

test-long: .venv/ready
	$(BIN)/python -m pytest -n auto --dist worksteal -m long --ignore=tests/e2e $(ARGS)

# The same tests, three times as slow.
coverage: .venv/ready
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -n auto --dist worksteal --ignore=tests/e2e $(ARGS)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

e2e: .venv/ready
	$(BIN)/python -m tests.e2e.secondrun tests/e2e $(WITHOUT_TIMEOUT) $(ARGS)

engines: .venv/ready
	BERTH_E2E_ENGINES=$(STORY) $(BIN)/python -m tests.e2e.secondrun $(ENGINES:%=tests/e2e/test_%.py) $(WITHOUT_TIMEOUT) $(ARGS)

lint: .venv/ready
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

bench: .venv/ready
	$(BIN)/python -m tests.bench $(ARGS)

# The site is in build/site, its environment in build/docs; build/reference has pages that are made for it.
docs: build/docs/ready .venv/ready
	$(BIN)/python -m tests.reference build/reference
	NO_MKDOCS_2_WARNING=1 build/docs/bin/mkdocs build --strict --config-file .ci/docs/mkdocs.yml

docs-serve: build/docs/ready .venv/ready
	$(BIN)/python -m tests.reference build/reference
	build/docs/bin/mkdocs serve --config-file .ci/docs/mkdocs.yml

# Pins every package that pyproject.toml needs, and what workflows install, with hashes.
lock: .venv/ready
	$(BIN)/uv pip compile --quiet pyproject.toml --group dev --generate-hashes --universal --python-version 3.11 \
		--no-emit-index-url --custom-compile-command "make lock" --output-file .ci/requirements.txt
	$(BIN)/uv pip compile --quiet --group docs --generate-hashes --universal --python-version 3.11 \
		--no-emit-index-url --custom-compile-command "make lock" --output-file .ci/docs/requirements.txt
	$(BIN)/uv pip compile --quiet pyproject.toml --generate-hashes --universal --python-version 3.11 \
		--constraints .ci/requirements.txt --no-annotate --no-emit-index-url \
		--custom-compile-command "make lock" --output-file templates/repository/.github/berth/requirements.txt

.venv/ready: .ci/requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Berth needs Python 3.11 or newer: make PYTHON=/path/to/it")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r .ci/requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

build/docs/ready: .ci/docs/requirements.txt
	$(PYTHON) -m venv build/docs
	build/docs/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r .ci/docs/requirements.txt
	@touch $@

clean:
	rm -rf .venv .coverage* .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
