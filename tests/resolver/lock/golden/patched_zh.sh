#!/bin/sh
# 由 envdoctor 0.1.0 锁定，矩阵日期 2026-11-30
# 请求：an example
# 适用于：GPU h100,a100、Python 3.8
# 不由本文件安装，但需要：镜像 nvidia/cuda:11.8.0-cudnn8-devel-ubuntu20.04
# 与要求不同：要求 torch ==1.9.1 (cuda 11.1)，实际为 2.0.0+cu118
# 前提：glibc is 2.28 or newer
#
# sh FILE [FOLDER] 在 FOLDER 中创建环境，默认为 .venv
# PATCHES：存放 envdoctor 补丁（NAME.patch）的目录
set -eu

environment=${1:-.venv}
python=$environment/bin/python
patches=${PATCHES:-}
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
# 那里的包会被误认为属于这个环境。
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
    fail '接下来要编译 GPU 代码，需要这个版本的 nvcc：' "CUDA $1"
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
        fail 'PATCHES 指定的目录里没有这个补丁：' "$1.patch"
    patch -p1 -d "$folder" <"$patches/$1.patch"
}

if [ -e "$environment" ]; then
    fail '它已经存在，里面的内容会与锁定的不同：' "$environment"
fi
if command -v uv >/dev/null 2>&1; then
    uv venv --python 3.8 -- "$environment"
elif command -v python3.8 >/dev/null 2>&1; then
    python3.8 -m venv -- "$environment"
else
    fail 'PATH 中既没有 uv，也没有 python3.8'
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

say '[2/5] torch 2.0.0+cu118 的依赖'
"$python" -m pip install --constraint "$work/constraints.txt" torch==2.0.0+cu118

say '[3/5] setuptools、wheel'
"$python" -m pip install --constraint "$work/constraints.txt" 'setuptools<82' wheel

# 它的源码要先打上补丁 mmcv-thc、mmcv-cxx17。
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
    say 'PATH 中没有 envdoctor；检查安装结果请运行：' \
        envdoctor check --python "$python"
fi
