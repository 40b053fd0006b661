#!/bin/sh
# Locked by envdoctor 0.1.0, matrices of 2026-11-30
# Asked for: MapTR
# For: GPU a100, driver 535.129.03, Python 3.8
# Not installed here, and needed: image nvidia/cuda:11.1.1-cudnn8-devel-ubuntu20.04, CUDA toolkit 11.1
#
# sh FILE [FOLDER] makes the environment in FOLDER, .venv if not said
# CODE: the folder of the training code, the current one if not said
set -eu

environment=${1:-.venv}
python=$environment/bin/python
code=${CODE:-.}
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
mmsegmentation==0.14.1
numpy<1.24
torch==1.9.1+cu111
torchaudio==0.9.1
torchvision==0.10.1+cu111
END_OF_FILE

say '[1/5] torch 1.9.1+cu111, torchvision 0.10.1+cu111 (https://download.pytorch.org/whl/torch_stable.html)'
"$python" -m pip install --no-deps \
    --find-links https://download.pytorch.org/whl/torch_stable.html \
    torch==1.9.1+cu111 \
    torchvision==0.10.1+cu111

say '[2/5] mmcv-full 1.4.0 (https://download.openmmlab.com/mmcv/dist/cu111/torch1.9.0/index.html)'
"$python" -m pip install --no-deps --no-cache-dir \
    --find-links https://download.openmmlab.com/mmcv/dist/cu111/torch1.9.0/index.html \
    --only-binary mmcv-full \
    mmcv-full==1.4.0

say '[3/5] torchaudio 0.9.1, mmdet 2.14.0, mmsegmentation 0.14.1'
"$python" -m pip install \
    --constraint "$work/constraints.txt" \
    torchaudio==0.9.1 \
    mmdet==2.14.0 \
    mmsegmentation==0.14.1 \
    torch==1.9.1+cu111 \
    torchvision==0.10.1+cu111 \
    mmcv-full==1.4.0

say '[4/5] setuptools, wheel'
"$python" -m pip install --constraint "$work/constraints.txt" setuptools wheel

say '[5/5] mmdet3d 0.17.2'
need_nvcc 11.1
env FORCE_CUDA=1 TORCH_CUDA_ARCH_LIST=8.0 \
    "$python" -m pip install --no-deps --no-cache-dir --no-build-isolation \
    --editable "$code"/mmdetection3d

if command -v envdoctor >/dev/null 2>&1; then
    envdoctor check --python "$python"
else
    say 'envdoctor is not on PATH; to check what was installed:' \
        envdoctor check --python "$python"
fi
