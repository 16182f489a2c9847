# The thin front: each target is one line that a developer could type.
#
#     make serve              install what is missing, build, serve the example
#     make test               install what is missing, build, run every test
#     make test PYTHON=...    the same for another interpreter, side by side

PYTHON ?= python3
HOST   ?= 127.0.0.1
PORT   ?= 8000
APP    ?= examples.hello:app
TIME   ?= 30
ENGINE ?= libfuzzer

# Another interpreter gets a virtual environment and build folders of its own.
ifneq ($(PYTHON),python3)
tag := -$(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
ifeq ($(tag),-)
$(error PYTHON=$(PYTHON) is not a Python)
endif
endif
VENV := .venv$(tag)
python := $(CURDIR)/$(VENV)/bin/python
setup := PYTHON=$(PYTHON) VENV=$(VENV) tools/setup.sh

.DELETE_ON_ERROR:
.PHONY: help setup build serve tidy test asan clang fuzz bench check fmt clean

help:
	@echo "make setup   install what building and testing needs"
	@echo "make build   build the development tree, build/dev$(tag)"
	@echo "make serve   serve $(APP) on $(HOST):$(PORT) (APP= HOST= PORT=)"
	@echo "make test    check the house rules, then run every test"
	@echo "make check   formatters and linters only"
	@echo "make fmt     format all C and Python"
	@echo "make asan    the tests under AddressSanitizer and UBSan"
	@echo "make clang   build with clang and run clang-tidy"
	@echo "make fuzz    fuzz each target for a while (TIME= ENGINE=libfuzzer|afl)"
	@echo "make bench   CPU time per request, next to other servers"
	@echo "make clean   remove build/ (also .venv and .cache: git clean -dfX)"

# --- Set-up: again only when what it installs has changed ---

$(VENV)/ready-to-%: tools/setup.sh tools/llhttp.txt pyproject.toml
	@$(setup) $*
	@touch $@

setup: $(VENV)/ready-to-test
	@echo "setup: all is there"

# --- Building ---

build/%$(tag)/build.ninja: CMakePresets.json cmake/Deps.cmake
	@echo "build: configuring build/$*$(tag)"
	@rm -f $(@D)/CMakeCache.txt
	@cmake --preset $* -B $(@D) -DPython_EXECUTABLE=$(python) >/dev/null
	@touch $@

build/release$(tag)/build.ninja: $(VENV)/ready-to-build
build/dev$(tag)/build.ninja build/asan$(tag)/build.ninja: $(VENV)/ready-to-test

build-%: build/%$(tag)/build.ninja
	@echo "build: build/$*$(tag) (from nothing half a minute or so)"
	@ninja -C build/$*$(tag) --quiet

build: build-dev

# --- Running ---

serve: build-release
	PYTHONPATH=build/release$(tag)/python $(python) -m xsgi serve $(APP) \
	    --host $(HOST) --port $(PORT)

tidy: build-dev
	$(python) tools/tidy.py --build build/dev$(tag)

test: tidy
	ctest --test-dir build/dev$(tag) --output-on-failure -j 2
	PYTHONPATH=build/dev$(tag)/python $(python) -m pytest

# The interpreter is not instrumented, so the runtime is loaded before it. What
# only the command line, options and reloading run is Python, and slow there.
python-only := $(wildcard $(addprefix tests/python/test_,changes.py cli.py \
    completion.py config.py interface.py loader.py reload*.py sources.py))
asan: build-asan
	ctest --test-dir build/asan$(tag) --output-on-failure -j 2
	LD_PRELOAD="$$(cc -print-file-name=libasan.so) \
	    $$(cc -print-file-name=libubsan.so)" \
	    ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc XSGI_SIM_SEEDS=12 \
	    PYTHONPATH=build/asan$(tag)/python $(python) -m pytest --timeout 300 \
	    $(addprefix --ignore=,tests/tools $(python-only))

clang: $(VENV)/ready-to-clang
	CC=clang cmake --preset dev -B build/clang$(tag) \
	    -DPython_EXECUTABLE=$(python) >/dev/null
	ninja -C build/clang$(tag) --quiet
	run-clang-tidy -quiet -p build/clang$(tag) \
	    '^$(CURDIR)/(core|io|access|python)/' >build/clang$(tag)/tidy.log 2>&1 || \
	    { grep -E '(error|note):' build/clang$(tag)/tidy.log; exit 1; }

fuzz: $(VENV)/ready-to-fuzz
	fuzz/run all --time $(TIME) --engine $(ENGINE)

bench: $(VENV)/ready-to-bench build-release
	$(python) bench/compare.py --build build/release$(tag)

# --- The look of the code ---

check: $(VENV)/ready-to-lint
	$(VENV)/bin/clang-format -n -Werror --ferror-limit=1 $$(git ls-files '*.c' '*.h')
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .

fmt: $(VENV)/ready-to-lint
	$(VENV)/bin/clang-format -i $$(git ls-files '*.c' '*.h')
	$(VENV)/bin/ruff format .
	$(VENV)/bin/ruff check --fix .

clean:
	rm -rf build
