# Two commands do everything on a fresh machine with Python 3.11: `make run` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q
OUT ?= results
# A first run shows that the installation works, and has the kernels compiled (about a minute).
TRY = $(BIN)/thzsync run tiny --iterations 1 > /dev/null

# The tests of the report drive a browser; without one they skip, which is said before they start.
define SAY_IF_NO_BROWSER
@command -v chromium > /dev/null && command -v chromedriver > /dev/null || { \
  echo "No chromium and chromedriver here: the tests that drive a browser will skip."; \
  echo "To run them: apt-get install chromium chromium-driver (Debian, Ubuntu)."; }
endef

.PHONY: run test install bench verify docs clean

run: .venv/.installed
	@$(BIN)/thzsync reproduce all --quick --out $(OUT)
	@$(BIN)/thzsync ask paper --seeds 3 --iterations 2 --out $(OUT)/answer --force
	@$(BIN)/thzsync report $(OUT) --json > /dev/null
	@echo "Open $(OUT)/report.html in a browser; docs/tutorial.md leads to a scenario of your own."

test: .venv/.tested
	$(SAY_IF_NO_BROWSER)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n 2 -m "not slow"

verify: .venv/.tested
	$(SAY_IF_NO_BROWSER)
	THZSYNC_THOROUGH=1 $(BIN)/python -m pytest -n 2

bench: .venv/.tested
	$(BIN)/thzsync bench all

docs: .venv/.documented
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "Open build/site/index.html in a browser; to search, run: python3 -m http.server -d build/site"

install: .venv/.installed

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/.installed: .venv/bin/python pyproject.toml constraints.txt
	$(PIP) install -c constraints.txt -e .
	$(TRY)
	touch $@

.venv/.tested: .venv/bin/python pyproject.toml constraints.txt
	$(PIP) install -c constraints.txt -e '.[test]'
	$(TRY)
	touch $@ .venv/.installed

.venv/.documented: .venv/bin/python pyproject.toml constraints.txt
	$(PIP) install -c constraints.txt -e '.[docs]'
	touch $@ .venv/.installed

clean:
	rm -rf .venv $(OUT) build .pytest_cache .mypy_cache .ruff_cache .hypothesis
