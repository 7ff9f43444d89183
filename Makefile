# Two commands: `make app` opens the app, `make test` runs all that CI runs; `make quick` is a slice
# of every kind of test, in under a minute. uv is used where it is there, else venv and pip.

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= python3
UV := $(shell command -v uv 2>/dev/null)

# Images for containers often set this; each of the many processes of the app and the tests would
# compile the whole project anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: app test types tests-only quick long bench rules docs pictures coverage check format lock audit clean

app: $(VENV)/.run
	$(BIN)/playground

# Types are checked beside the tests, which go on whatever is found.
test: $(VENV)/.dev $(VENV)/.docs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(MAKE) --no-print-directory --keep-going --jobs 2 types tests-only

types: $(VENV)/.dev
	$(BIN)/mypy

# Half as many workers again as there are cores: tests wait for browsers and disks a third of their
# time.
tests-only: export PYTEST_XDIST_AUTO_NUM_WORKERS ?= $(shell \
	expr \( $$(getconf _NPROCESSORS_ONLN) \* 3 + 1 \) / 2)
tests-only: $(VENV)/.dev
	$(BIN)/python -m pytest -n auto

# The table, the laws with five examples each, syntax, streams, sessions, caching, layers, documents,
# two commands and pages with a sample, at most ten cases of each test: what breaks first.
quick: $(VENV)/.dev
	$(BIN)/ruff check --quiet .
	LAW_EXAMPLES=5 HYPOTHESIS_PROFILE=quick $(BIN)/python -m pytest -n auto --cases 10 $(QUICK) \
		--deselect tests/test_laws.py::test_law_8_the_bytes_do_not_depend_on_the_hash_seed

QUICK := tests/test_table.py tests/test_syntax.py tests/test_laws.py tests/test_layers.py \
	tests/test_streams.py tests/test_sessions.py tests/test_caching.py \
	tests/test_cli.py::test_help_names_every_command \
	tests/test_cli.py::test_render_gives_the_request_itself \
	"tests/test_pages.py::test_a_page_runs_with_a_sample" \
	tests/test_documents.py::test_the_readmes_python_runs_as_it_stands \
	tests/test_documents.py::test_a_dialect_declared_in_four_lines_is_whole \
	tests/test_documents.py::test_links_in_documents_lead_somewhere

# What the changed files touch, the nearest first, in under a minute; it lists what it leaves out.
check: $(VENV)/.dev
	$(BIN)/python tests/touched.py

# What takes minutes. There may be nothing of the kind: pytest's status 5 says so. The last line puts
# 80 random faults into the code, others each day: it fails if fewer than 65 % make a test fail.
long: $(VENV)/.dev
	LAW_EXAMPLES=300 $(BIN)/python -m pytest -n auto tests/test_laws.py tests/test_quiet.py \
		tests/test_cache_laws.py tests/test_switches.py
	$(BIN)/python -m pytest -n auto -m long || test $$? -eq 5
	$(BIN)/python benchmarks/mutants.py --seed $$(date +%Y%m%d) --count 8 --seconds 20 --least 65

# Every figure that has a target, beside what PyPI offers, in an environment of its own. It fails
# where one is a fifth worse than in the last line of benchmarks/history.jsonl, and not by chance.
bench: $(VENV)/.dev
	$(BIN)/python benchmarks/everything.py --write

# Caching rules beside the types of the installed SDKs, and what was seen more than 90 days ago.
rules: $(VENV)/.dev
	$(BIN)/python benchmarks/cache_rules.py

# The documentation as a site, where a warning is an error (with --quiet MkDocs would count none).
# SITE is emptied first. Beside each page lies its Markdown, to which llms.txt leads.
SITE := $(CURDIR)/site
docs: $(VENV)/.docs
	PYTHONPATH=docs NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --site-dir $(SITE)
	cd docs && cp --parents $$(find . -name '*.md') $(SITE)
	@echo "the first page is $(SITE)/index.html"

# The tour's jobs, done anew in a browser: docs/tour.md and its pictures.
pictures: $(VENV)/.dev
	$(BIN)/python -m pytest tests/test_browser_jobs.py tests/test_browser_jobs_own.py --tour docs

coverage: $(VENV)/.dev
	$(BIN)/python -m pytest -n auto --cov --cov-report=term-missing:skip-covered --cov-report=html

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# What the app needs, by locked versions and hashes; then the project itself, without its build
# tools being fetched anew. The locks are complete, so that pip has nothing to resolve: before 23.3
# it took what a package needs of another one's extra (`coverage[toml]`) for not pinned, and stopped.
$(VENV)/.run: requirements.lock pyproject.toml | $(VENV)
ifdef UV
	$(UV) pip install --quiet --compile-bytecode --python $(BIN)/python --require-hashes -r requirements.lock
	$(UV) pip install --quiet --compile-bytecode --python $(BIN)/python --no-deps --no-build-isolation -e .
else
	$(BIN)/python -m pip install --quiet --no-deps --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
endif
	touch $@

$(VENV)/.dev: requirements-dev.lock $(VENV)/.run
ifdef UV
	$(UV) pip install --quiet --compile-bytecode --python $(BIN)/python --require-hashes -r requirements-dev.lock
else
	$(BIN)/python -m pip install --quiet --no-deps --require-hashes -r requirements-dev.lock
endif
	touch $@

# The site is built from the sources: nothing of the project is installed for it.
$(VENV)/.docs: requirements-docs.lock | $(VENV)
ifdef UV
	$(UV) pip install --quiet --compile-bytecode --python $(BIN)/python --require-hashes -r requirements-docs.lock
else
	$(BIN)/python -m pip install --quiet --no-deps --require-hashes -r requirements-docs.lock
endif
	touch $@

$(VENV):
ifdef UV
	$(UV) venv --quiet --python $(PYTHON) $(VENV)
else
	$(PYTHON) -m venv $(VENV)
endif

# For every supported Python, with hashes, naming no index and no extra. What is locked stays, as far
# as pyproject.toml lets it; `make lock UPGRADE=--upgrade`, or `UPGRADE="-P NAME"`, looks for newer ones.
UPGRADE :=
COMPILE := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --strip-extras \
	--no-emit-index-url --no-annotate --no-header $(UPGRADE)
lock:
	$(COMPILE) --extra build --extra app pyproject.toml -o requirements.lock
	$(COMPILE) --extra build --extra app --extra notebook --extra mcp --extra corpus --group dev \
		-c requirements.lock pyproject.toml -o requirements-dev.lock
	$(COMPILE) --group docs -c requirements-dev.lock -o requirements-docs.lock

# Known weaknesses of the locked versions: ADVISORIES is a file or folder in the OSV format.
audit: $(VENV)/.dev
	$(BIN)/python .ci/audit.py requirements.lock requirements-dev.lock requirements-docs.lock $(if $(ADVISORIES),--advisories $(ADVISORIES))

clean:
	rm -rf $(VENV) dist build site .mypy_cache .ruff_cache .pytest_cache .hypothesis
