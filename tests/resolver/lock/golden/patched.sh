#!/bin/sh
# Locked by envdoctor 0.1.0, matrices of 2026-11-30
# Asked for: an example
# For: GPU h100,a100, Python 3.8
# Not installed here, and needed: image nvidia/cuda:11.8.0-cudnn8-devel-ubuntu20.04
# Not as asked: torch ==1.9.1 (cuda 11.1), but 2.0.0+cu118
# Holds if: glibc is 2.28 or newer
#
# sh FILE [FOLDER] makes the environment in FOLDER, .venv if not said
# PATCHES: the folder with the patches of envdoctor, NAME.patch
set -eu

environment=${1:-.venv}
python=$environment/bin/python
patches=${PATCHES:-}
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
# $1: MiB that a job of the compiler takes. As many jobs as fit, one per processor at most.
jobs() {
    fit=$(awk -v each="$1" '/^MemAvailable:/ { print int($2 / 1024 / each) }' /proc/meminfo)
    all=$(getconf _NPROCESSORS_ONLN)
    [ "${fit:-1}" -le "$all" ] || fit=$all
    [ "${fit:-0}" -ge 1 ] || fit=1
    printf %s "$fit"
}
# $1: a CUDA. Fails where nvcc, looked for as torch's builder does, is not of its major number.
need_nvcc() {
    for nvcc in "${CUDA_HOME:-${CUDA_PATH:-}}/bin/nvcc" "$(command -v nvcc || :)" \
        /usr/local/cuda/bin/nvcc; do
        [ -x "$nvcc" ] || continue
        release=$("$nvcc" --version | sed -n 's/.*release \([0-9]*\)\..*/\1/p')
        [ -z "$1" ] || [ "$release" = "${1%%.*}" ] || break
        return 0
    done
    fail 'code for GPUs is compiled next, and needs the nvcc of' "CUDA $1"
}
# $1: a package, $2: its requirement. Unpacks its sources into $folder.
sources() {
    "$python" -m pip download --no-deps --no-build-isolation --no-binary "$1" \
        --dest "$work/$1" "$2"
    for archive in "$work/$1"/*; do
        "$python" -c 'import shutil, sys; shutil.unpack_archive(*sys.argv[1:])' \
            "$archive" "$work/$1-sources"
    done
    for folder in "$work/$1-sources"/*; do
        [ ! -d "$folder" ] || return 0
    done
}
# $1: a patch. Applies it in $folder.
apply() {
    [ -f "$patches/$1.patch" ] ||
        fail 'this patch is not in the folder that PATCHES names:' "$1.patch"
    patch -p1 -d "$folder" <"$patches/$1.patch"
}

if [ -e "$environment" ]; then
    fail 'this is there already, and would not be what is locked:' "$environment"
fi
if command -v uv >/dev/null 2>&1; then
    uv venv --python 3.8 -- "$environment"
elif command -v python3.8 >/dev/null 2>&1; then
    python3.8 -m venv -- "$environment"
else
    fail 'neither uv nor python3.8 is on PATH'
fi
"$python" -m pip --version >/dev/null 2>&1 ||
    "$python" -m ensurepip >/dev/null 2>&1 ||
    uv pip install --python "$python" pip
"$python" -m pip install 'pip>=20.3'

cat >"$work/constraints.txt" <<'END_OF_FILE'
mmcv-full==1.4.0
mmdet==2.14.0
numpy<1.24
torch==2.0.0+cu118
END_OF_FILE

say '[1/5] torch 2.0.0+cu118 (https://download.pytorch.org/whl/cu118)'
"$python" -m pip install --no-deps \
    --index-url https://download.pytorch.org/whl/cu118 \
    torch==2.0.0+cu118

say '[2/5] what torch 2.0.0+cu118 needs'
"$python" -m pip install --constraint "$work/constraints.txt" torch==2.0.0+cu118

say '[3/5] setuptools, wheel'
"$python" -m pip install --constraint "$work/constraints.txt" 'setuptools<82' wheel

# Its sources need the patches mmcv-thc, mmcv-cxx17 first.
say '[4/5] mmcv-full 1.4.0'
need_nvcc 11.8.0
sources mmcv-full mmcv-full==1.4.0
apply mmcv-thc
apply mmcv-cxx17
env FORCE_CUDA=1 TORCH_CUDA_ARCH_LIST='8.0;9.0' MAX_JOBS="${MAX_JOBS:-$(jobs 2048)}" \
    "$python" -m pip install --no-cache-dir --no-build-isolation \
    --constraint "$work/constraints.txt" \
    "$folder"

say '[5/5] mmdet 2.14.0'
"$python" -m pip install --constraint "$work/constraints.txt" mmdet==2.14.0

if command -v envdoctor >/dev/null 2>&1; then
    envdoctor check --python "$python"
else
    say 'envdoctor is not on PATH; to check what was installed:' \
        envdoctor check --python "$python"
fi
