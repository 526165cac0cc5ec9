# The one command for each thing one does with a checkout.
#
#   make crawl        set up, build, and crawl a synthetic web on this machine
#   make test         set up, build, and run the tests
#   make check        all that must pass before a merge, with the seconds of each step
#   make slow         the tests that take over two seconds, but for those of chaos-ci
#   make slow-ci      a third of them, drawn by a seed that is printed
#   make chaos        all kills, faults and damage that a crawl must survive; takes hours
#   make chaos-ci     a tenth of it, drawn by a seed that is printed (CHAOS_SEED=N sets it)
#   make debug        the kernels' tests with bounds checks, in a copy of the tree
#   make conformance  the published corpora (they lie beside the checkout)
#   make fuzz         a million hostile inputs to all that reads pages (FUZZ='--inputs 9 --seed 1')
#   make bench        measure, and print the table
#   make dist         wheel and source package, in dist/
#   make clean        remove what was built
#
# PYTHON=python3.12 chooses the interpreter; VENV=DIR another environment.

SHELL = /bin/bash
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
export PATH := $(abspath $(BIN)):$(PATH)
PIP = $(BIN)/python -m pip install -q
NATIVE = build/native.stamp
# cython-lint runs pycodestyle by its name.
export PATH := $(abspath $(BIN)):$(PATH)
SOURCES = $(wildcard ext/*.pyx ext/*.pxd ext/*.h) setup.py

# $(call step,NAME,COMMAND): run a command, print its seconds, fail when it fails.
define step
	@echo "== $(1)"; start=$$(date +%s%N); $(2); code=$$?; \
	printf -- '-- %s: %.1f s%s\n' '$(1)' "$$(( ($$(date +%s%N) - start) / 100000000 ))e-1" \
		"$$([ $$code = 0 ] || echo ', FAILED')"; exit $$code
endef

.PHONY: crawl test check slow slow-ci chaos chaos-ci debug conformance fuzz bench dist clean

crawl: $(NATIVE)
	$(BIN)/larbinpy demo

test: $(VENV)/dev.stamp $(NATIVE)
	$(BIN)/python -m pytest

check: $(VENV)/dev.stamp $(NATIVE)
	$(call step,format,$(BIN)/ruff format --check .)
	$(call step,ruff,$(BIN)/ruff check .)
	$(call step,cython-lint,$(BIN)/cython-lint ext)
	$(call step,mypy,$(BIN)/mypy)
	$(call step,import contract,$(BIN)/lint-imports)
	$(call step,stubtest,$(BIN)/python -m mypy.stubtest larbinpy._native --ignore-disjoint-bases --allowlist tests/stubtest.allow --ignore-unused-allowlist)
	$(call step,tests,$(BIN)/python -m pytest)

slow: $(VENV)/dev.stamp $(NATIVE)
	$(BIN)/python -m pytest -m slow --ignore=tests/chaos

slow-ci: $(VENV)/dev.stamp $(NATIVE)
	$(BIN)/python -m pytest -m slow --ignore=tests/chaos -p tests.draw --one-of 3 --durations=10

chaos: $(VENV)/dev.stamp $(NATIVE)
	$(call step,kills,$(BIN)/python -m tests.chaos.kills --kills 1000)
	$(call step,limits,$(BIN)/python -m tests.chaos.limits)
	$(call step,power,$(BIN)/python -m tests.chaos.power --moments 40)
	$(call step,disks,$(BIN)/python -m tests.chaos.disks)
	$(call step,log,$(BIN)/python -m pytest tests/frontier -m slow)
	$(call step,syscalls,$(BIN)/python -m tests.chaos.syscalls --positions all)

chaos-ci: $(VENV)/dev.stamp $(NATIVE)
	$(BIN)/python -m pytest tests/chaos -m crash -s -o faulthandler_timeout=600

conformance: $(VENV)/dev.stamp $(NATIVE)
	$(call step,suites,$(BIN)/python -m tests.conformance.report)
	$(call step,tests,$(BIN)/python -m pytest tests/conformance)
	$(call step,real pages,$(BIN)/python -m tests.conformance.realpages)

bench: $(VENV)/bench.stamp $(NATIVE)
	$(BIN)/larbinpy bench kernels
	$(BIN)/larbinpy bench web

# Cython's C differs with the checks, so a debug build must not share build/ with the other.
debug: $(VENV)/dev.stamp
	rm -rf build/debug && mkdir -p build/debug
	cp -r setup.py pyproject.toml README.md LICENSE larbin.conf ext larbinpy tests build/debug
	find build/debug -name '*.so' -delete
	cd build/debug && EXT_DEBUG=1 $(abspath $(BIN))/python setup.py -q build_ext --inplace \
		--parallel $$(nproc)
	cd build/debug && LARBINPY_SHARED=$${LARBINPY_SHARED:-$(abspath ../shared)} \
		$(abspath $(BIN))/python -m pytest tests/native

# Kernels that read bytes of the web, and the records that bring them, with address checks and a call
# at each block.
FUZZED = headerfield linkscan listscan urlnorm robotsmatch linkfilter simhash jobs pages shared \
	plainpage logline
FUZZ ?= --inputs 1000000
ASAN = $$($(CC) -print-file-name=libasan.so)

build/fuzz/edges.so: $(VENV)/dev.stamp $(SOURCES) tests/fuzz/edges.c Makefile
	rm -rf build/fuzz && mkdir -p build/fuzz/ext
	cp -r setup.py pyproject.toml README.md LICENSE larbin.conf build/fuzz
	cp ext/*.pxd ext/*.h $(FUZZED:%=ext/%.pyx) build/fuzz/ext
	tar -c --exclude='*.so' larbinpy | tar -x -C build/fuzz
	cd build/fuzz && LDFLAGS=-fsanitize=address \
		CFLAGS='-g -fsanitize=address -fsanitize-coverage=trace-pc -fno-omit-frame-pointer' \
		$(abspath $(BIN))/python setup.py -q build_ext --inplace --parallel $$(nproc)
	$(CC) -O2 -shared -fPIC -o $@ tests/fuzz/edges.c

fuzz: build/fuzz/edges.so
	rm -rf build/fuzz/tests && cp -r tests build/fuzz
	tar -c --exclude='*.so' larbinpy | tar -x -C build/fuzz
	cd build/fuzz && LD_PRELOAD=$(ASAN) ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc \
		LARBINPY_SHARED=$${LARBINPY_SHARED:-$(abspath ../shared)} \
		$(abspath $(BIN))/python -m tests.fuzz --edges ./edges.so $(FUZZ)

dist: $(VENV)/dev.stamp
	$(BIN)/python -m build --no-isolation

clean:
	rm -rf build dist *.egg-info .venv
	find larbinpy -name '*.so' -delete
	find . -name __pycache__ -prune -exec rm -rf {} +

# The checkout itself is installed (editable), so the command and the tests use it as it is.
# pip builds the kernels while it installs; afterwards only what changed is built, in place.
$(VENV)/run.stamp: pyproject.toml setup.py
	$(PYTHON) -m venv $(VENV)
	printf '[build_ext]\nparallel = %s\n' "$$(nproc)" >$(VENV)/build.cfg
	$(PIP) --upgrade pip 'setuptools>=77' 'Cython>=3.1'
	DIST_EXTRA_CONFIG=$(abspath $(VENV))/build.cfg $(PIP) --no-build-isolation -e .
	mkdir -p build && touch $(NATIVE) $@

# The extras of a package that is installed already are installed without it.
$(VENV)/dev.stamp $(VENV)/bench.stamp: $(VENV)/%.stamp: $(VENV)/run.stamp
	$(PIP) 'larbinpy[$*]'
	touch $@

$(NATIVE): $(SOURCES) | $(VENV)/run.stamp
	$(BIN)/python setup.py -q build_ext --inplace --parallel $$(nproc)
	mkdir -p build && touch $@
