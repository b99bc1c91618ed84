# `make demo` and `make test` each work alone on a fresh machine with Python >= 3.11, make and a C compiler.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
# Pinned versions, so that the tests do not break by themselves; `make PINS=` installs the newest ones.
PINS ?= --constraint constraints.txt
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check $(PINS) --editable

FUZZ_MINUTES ?= 60
# One process a core, four at most; in each of them BLAS has one thread, and those of the kernels sleep while they wait.
WORKERS ?= logical
PYTEST = OMP_WAIT_POLICY=passive OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest \
  --numprocesses=$(WORKERS) --maxprocesses=4 --dist=worksteal $(PYTEST_ARGS)

.DEFAULT_GOAL := help
.PHONY: help demo test test-fast test-newest lint lint-js fuzz mutants test-gpu test-r coverage release-check format docs pages reproduce bench stress recovery selection reliability evidence tie-speed clean bundle report-shots

help: ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

# A stamp for each set of dependencies, remade when pyproject.toml or the pins change.
$(VENV)/.plot: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "nashgraph needs Python 3.11 or newer: make PYTHON=python3.x"'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) '.[plot]'
	touch $@

$(VENV)/.dev: $(VENV)/.plot
	$(INSTALL) '.[dev]'
	touch $@

$(VENV)/.docs: $(VENV)/.plot
	$(INSTALL) '.[docs]'
	touch $@

demo: $(VENV)/.plot ## learn a simulated village and the karate club; writes demo/
	$(BIN)/nashgraph demo --out demo

test: $(VENV)/.dev ## lint, types, import contract, tests, doctests
	$(MAKE) --no-print-directory lint
	$(PYTEST)

# `make test-fast LINT=` runs the tests alone.
LINT ?= yes
test-fast: $(VENV)/.dev ## the same without the tests marked slow (browser, fuzzing, clusters, experiments)
	$(if $(LINT),$(MAKE) --no-print-directory lint)
	$(PYTEST) -m "not slow"

test-newest: ## the tests with the newest libraries, unpinned, in an environment of its own: what is coming
	$(MAKE) --no-print-directory test VENV=build/newest PINS=

lint: $(VENV)/.dev ## ruff, plain prose, density of the code, mypy, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python tools/prose.py
	$(BIN)/python tools/density.py
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bundle: ## the report's script from the modules in web/, by esbuild (needs npm; fetches it)
	cd web && npm install --no-save --no-package-lock --no-audit --no-fund --silent && node build.mjs

report-shots: $(VENV)/.dev ## report pages of several sizes into build/pages, their pictures into build/shots/
	$(BIN)/python tools/report_pages.py --shots build/shots

lint-js: ## the report's modules by eslint (needs npm; fetches it)
	npm install --no-save --no-audit --no-fund --silent --prefix build/eslint eslint@10 @eslint/js@10 globals@17
	rm -rf build/eslint/web && mkdir -p build/eslint/web/tests
	cp web/*.js web/*.mjs build/eslint/web/ && cp web/tests/* build/eslint/web/tests/
	cp tools/eslint.config.mjs build/eslint/
	cd build/eslint && npx eslint web

format: $(VENV)/.dev ## format the sources
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/.docs ## the documentation, its examples run, warnings as errors; writes docs/_build/html
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html

fuzz: $(VENV)/.dev ## new inputs for every parser, over and over (FUZZ_MINUTES, default 60)
	end=$$(( $$(date +%s) + 60 * $(FUZZ_MINUTES) )); while [ $$(date +%s) -lt $$end ]; do \
	  $(BIN)/python -m pytest tests/fuzz --hypothesis-profile=fuzz -x || exit 1; done

mutants: $(VENV)/.dev ## how many small mistakes in pairs, games, priors, solvers, consensus and ties the tests find (about an hour)
	$(BIN)/python -m benchmarks.mutants

release-check: ## wheel and sdist built, installed and tried on every supported Python that is here
	$(PYTHON) tools/release_check.py $(RELEASE_ARGS)

test-gpu: $(VENV)/.dev ## the engine cuda, on a GPU or through PyTorch and Triton's interpreter on the CPU (an environment of its own)
	test -x build/gpu/bin/python || $(PYTHON) -m venv build/gpu
	# Triton's interpreter does not know NumPy 2.4.
	build/gpu/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]' 'torch==2.13.0' 'triton==3.6.0' 'numpy<2.4'
	build/gpu/bin/python -m pytest tests/gpu

test-r: $(VENV)/.plot ## the R package in r/nashgraph: its tests, on Debian with R and reticulate from packages (as root, or with them installed)
	command -v R >/dev/null || (apt-get update && apt-get install -y --no-install-recommends \
	  r-base-core r-cran-reticulate r-cran-testthat r-cran-igraph r-cran-knitr r-cran-rmarkdown)
	mkdir -p build/r-library
	R CMD INSTALL --no-docs --library=build/r-library r/nashgraph
	RETICULATE_PYTHON=$(abspath $(BIN)/python) R_LIBS=$(abspath build/r-library) \
	  Rscript -e 'testthat::test_dir("r/nashgraph/tests/testthat", package = "nashgraph", load_package = "installed", stop_on_failure = TRUE)'

coverage: $(VENV)/.dev ## the tests, with the share of branches that they go through
	$(PYTEST) --cov

pages: $(VENV)/.plot ## update the output of commands in docs/: the tutorial, the options
	$(BIN)/python docs/pages.py

reproduce: $(VENV)/.plot ## every table and figure of the paper (under 30 minutes); writes results/
	$(BIN)/python -m reproduce all

bench: $(VENV)/.dev ## measure, side by side in one run
	$(BIN)/python -m benchmarks

stress: $(VENV)/.dev ## the fast solver over its whole robustness grid (about 5 minutes)
	$(BIN)/python -m benchmarks.stress

recovery: $(VENV)/.dev ## every method and control on networks with known ties (about 10 minutes)
	$(BIN)/python -m benchmarks.recovery --short

selection: $(VENV)/.dev ## does select() keep its promise? (about 10 minutes)
	$(BIN)/python -m benchmarks.selection

reliability: $(VENV)/.dev ## is a tie's frequency its probability? real networks where NASHGRAPH_DATA has them
	$(BIN)/python -m benchmarks.reliability

evidence: $(VENV)/.dev ## what questions about ties buy: the tie model on networks with known ties (needs NASHGRAPH_DATA)
	$(BIN)/python -m benchmarks.evidence

tie-speed: $(VENV)/.dev ## how long the tie model takes, up to 20,000 people (about 10 minutes)
	$(BIN)/python -m benchmarks.tie_speed

clean: ## remove what make made
	rm -rf $(VENV) .coverage build demo docs/_build docs/gallery docs/generated .mypy_cache .pytest_cache .ruff_cache .hypothesis
