#!/bin/sh
# Install what is missing, and nothing else: it may run any number of times.
#
#     tools/setup.sh build     what building and serving needs (the default)
#     tools/setup.sh test      and what the tests need
#     tools/setup.sh bench     and what the benchmarks compare with
#     tools/setup.sh clang     and what building and linting with clang needs
#     tools/setup.sh fuzz      and what the fuzzers need: clang and AFL++
#     tools/setup.sh lint      what the formatters and ruff need
#     tools/setup.sh proxies   nginx and HAProxy, for the tests behind them
#
#     PYTHON   the interpreter to build for (python3)
#     VENV     its virtual environment (.venv)
#
# System packages come from apt-get, as root or through a sudo that asks for
# no password. Python packages go into VENV only. The llhttp sources go into
# .cache/llhttp where the system has no llhttp 9.3.
set -eu
cd "$(dirname "$0")/.."

level=${1:-build}
python=${PYTHON:-python3}
venv=${VENV:-.venv}
log=.cache/setup.log
mkdir -p .cache

say() {
    echo "setup: $*"
}

die() {
    echo "setup: $*" >&2
    exit 1
}

# Run a command quietly; show the end of what it said only if it fails.
quietly() {
    "$@" >"$log" 2>&1 && return
    tail -n 15 "$log" >&2
    die "this failed, see above and $log: $*"
}

# --- System packages: ask for the thing itself, not for a package's name ---

has() {
    command -v "$1" >/dev/null
}

has_library() {
    has pkg-config && pkg-config --exists "$1"
}

has_python() {
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null
}

has_venv() {
    "$python" -c 'import ensurepip, venv' 2>/dev/null
}

has_headers() {
    "$python" -c 'import os, sys, sysconfig as s
sys.exit(not os.path.exists(s.get_path("include") + "/Python.h"))' 2>/dev/null
}

# Only recommended by clang, so it may be missing where clang is there.
has_fuzzer() {
    has clang || return 1
    echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' |
        clang -w -fsanitize=fuzzer,address -x c - -o .cache/has-fuzzer 2>/dev/null
}

has_llhttp() {
    [ -d .cache/llhttp ] || has_library 'libllhttp >= 9.3'
}

missing_packages() {
    has cc || echo gcc libc6-dev
    has cmake || echo cmake
    has ninja || echo ninja-build
    has pkg-config || echo pkg-config
    has_library 'libuv >= 1.44' || echo libuv1-dev
    if [ "$python" = python3 ]; then
        has python3 || echo python3
        has_venv || echo python3-venv
        has_headers || echo python3-dev
    fi
    case $level in
    test | clang | fuzz)
        has_library cmocka || echo libcmocka-dev
        has curl || echo curl
        has zsh || echo zsh
        has fish || echo fish
        ;;
    bench) has wrk || echo wrk ;;
    esac
    if [ "$level" = fuzz ]; then
        has clang || echo clang
        has_fuzzer || echo libclang-rt-dev
        has llvm-cov || echo llvm
        has afl-clang-fast || echo afl++
    fi
    if [ "$level" = clang ]; then
        has clang || echo clang
        has run-clang-tidy || echo clang-tidy
    fi
}

apt() {
    if [ "$(id -u)" -eq 0 ]; then
        quietly env DEBIAN_FRONTEND=noninteractive apt-get "$@"
    else
        quietly sudo -n env DEBIAN_FRONTEND=noninteractive apt-get "$@"
    fi
}

may_apt() {
    has apt-get || return 1
    [ "$(id -u)" -eq 0 ] || sudo -n true 2>/dev/null
}

# Is the distribution's own llhttp new enough?
apt_has_llhttp() {
    version=$(apt-cache policy libllhttp-dev 2>/dev/null |
        sed -n 's/ *Candidate: //p')
    [ -n "$version" ] && dpkg --compare-versions "$version" ge 9.3
}

install_system_packages() {
    # shellcheck disable=SC2046 # one word a package
    set -- $(missing_packages)
    if [ $# -gt 0 ]; then
        may_apt || die "as root, install these first (their Debian names): $*"
        say "updating the list of system packages"
        apt update -q
    fi
    if ! has_llhttp && may_apt && apt_has_llhttp; then
        set -- "$@" libllhttp-dev
    fi
    [ $# -gt 0 ] || return 0
    say "installing system packages (a minute or so): $*"
    apt install -q -y --no-install-recommends "$@"
    has_python || die "$python is older than Python 3.10"
}

# Not with the tests: a distribution starts them as services, too, and the
# tests behind them are left out where they are missing.
install_proxies() {
    PATH=$PATH:/usr/sbin:/sbin # where a distribution hides them
    set --
    has nginx || set -- "$@" nginx
    has haproxy || set -- "$@" haproxy
    [ $# -gt 0 ] || return 0
    may_apt || die "as root, install these first (their Debian names): $*"
    say "installing system packages: $*"
    apt update -q
    apt install -q -y --no-install-recommends "$@"
}

# --- The virtual environment ---

make_venv() {
    has_python || die "$python is not a Python of 3.10 or newer"
    has_headers || die "$python comes without its C headers (Python.h)"
    what='import sys; print(sys.version, sys.base_prefix)'
    if [ "$("$venv/bin/python" -c "$what" 2>/dev/null)" = \
        "$("$python" -c "$what")" ]; then
        return 0
    fi
    say "making $venv for $("$python" --version)"
    rm -rf "$venv"
    quietly "$python" -m venv "$venv"
}

# install_requirements NAME EXTRA...: once for each text of the requirements.
install_requirements() {
    stamp=$venv/installed-$1.txt
    shift
    "$venv/bin/python" tools/requirements.py "$@" >"$stamp.new"
    if ! cmp -s "$stamp.new" "$stamp"; then
        say "installing Python packages into $venv (a minute or so): $(
            sed 's/[<>=].*//' "$stamp.new" | tr '\n' ' ')"
        quietly "$venv/bin/python" -m pip install -q -r "$stamp.new"
    fi
    mv "$stamp.new" "$stamp"
}

# --- llhttp ---

get_llhttp() {
    has_llhttp && return
    say "getting the sources of llhttp 9.4.3 into .cache/llhttp"
    quietly tools/llhttp.sh "$venv/bin/python" .cache/llhttp
}

case $level in
build | test | clang | bench | fuzz) ;;
lint)
    has_python || install_system_packages
    make_venv
    install_requirements lint dev
    say "ready: lint"
    exit
    ;;
proxies)
    install_proxies
    say "ready: proxies"
    exit
    ;;
*)
    die "what is '$level'? It is build, test, bench, clang, fuzz, lint or proxies"
    ;;
esac

install_system_packages
make_venv
case $level in
test | bench) install_requirements "$level" "$level" ;;
*) install_requirements build ;;
esac
get_llhttp
say "ready: $level"
