#!/bin/sh
# Locked by envdoctor 0.1.0, matrices of 2026-11-30
# Asked for: an example
# For: GPU h100, driver 550.54.15, Python 3.11
#
# sh FILE [FOLDER] makes the environment in FOLDER, .venv if not said
set -eu

environment=${1:-.venv}
python=$environment/bin/python
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
# What lies there would be taken for a part of the environment.
unset PYTHONPATH PYTHONHOME

say() {
    printf '%s\n' "$*"
}
fail() {
    printf '%s\n' "$*" >&2
    exit 1
}

if [ -e "$environment" ]; then
    fail 'this is there already, and would not be what is locked:' "$environment"
fi
if command -v uv >/dev/null 2>&1; then
    uv venv --python 3.11 -- "$environment"
elif command -v python3.11 >/dev/null 2>&1; then
    python3.11 -m venv -- "$environment"
else
    fail 'neither uv nor python3.11 is on PATH'
fi
"$python" -m pip --version >/dev/null 2>&1 ||
    "$python" -m ensurepip >/dev/null 2>&1 ||
    uv pip install --python "$python" pip
"$python" -m pip install 'pip>=20.3'

say '[1/1] torch 2.4.1, transformers 4.45.2, einops 0.8.0, numpy 1.26.4'
cat >"$work/1.txt" <<'END_OF_FILE'
torch==2.4.1 \
    --hash=sha256:1919191919191919191919191919191919191919191919191919191919191919
transformers==4.45.2 \
    --hash=sha256:1919191919191919191919191919191919191919191919191919191919191919
einops==0.8.0 \
    --hash=sha256:0404040404040404040404040404040404040404040404040404040404040404
numpy==1.26.4 \
    --hash=sha256:1313131313131313131313131313131313131313131313131313131313131313
END_OF_FILE
"$python" -m pip install --no-deps -r "$work/1.txt"

if command -v envdoctor >/dev/null 2>&1; then
    envdoctor check --python "$python"
else
    say 'envdoctor is not on PATH; to check what was installed:' \
        envdoctor check --python "$python"
fi
