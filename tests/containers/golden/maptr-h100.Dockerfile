# Locked by envdoctor 0.1.0, matrices of 2026-12-01
# Asked for: MapTR
# For: GPU H100 (compute capability 9.0), processor architecture x86_64, Python 3.8
# Not installed here, and needed: image nvidia/cuda:11.8.0-cudnn8-devel-ubuntu22.04
# Not as asked: torch ==1.9.1 (cuda 11.1), but 2.0.0+cu118
# Not as asked: torchvision ==0.10.1, but 0.15.1+cu118
# Not as asked: torchaudio ==0.9.1, but 2.0.1+cu118
# Holds if: NVIDIA driver is not known; torch, torchvision, torchaudio, mmcv-full asks for it [cuda/minor, cuda/exact]
# Holds if: CUDA version that the driver serves is not known; torch, torchvision, torchaudio, mmcv-full asks for it [cuda/minor, cuda/exact]
ARG BASE_IMAGE=nvidia/cuda:11.8.0-cudnn8-devel-ubuntu22.04

# --- the system ---------------------------------------------------------------------------------
# why: image nvidia/cuda:11.8.0-cudnn8-devel-ubuntu22.04: table/base_image
FROM ${BASE_IMAGE} AS system
ARG DEBIAN_FRONTEND=noninteractive
# hadolint ignore=DL3008  # the distribution's archive keeps the newest release of a package alone
RUN --mount=type=secret,id=ca,target=/run/secrets/ca \
    if [ -s /run/secrets/ca ]; then ca=/run/secrets/ca; fi \
    && apt-get ${ca:+-o "Acquire::https::CaInfo=$ca"} update \
    && apt-get ${ca:+-o "Acquire::https::CaInfo=$ca"} install --yes --no-install-recommends \
        ca-certificates \
        python3.10 \
        python3.10-venv \
        tini \
    && rm -rf /var/lib/apt/lists/*

# --- the training code --------------------------------------------------------------------------
FROM system AS code
# why: hustvl/MapTR at the commit that the profile was read at, a6872d8d
# hadolint ignore=DL3008
RUN --mount=type=secret,id=ca,target=/run/secrets/ca \
    if [ -s /run/secrets/ca ]; then ca=/run/secrets/ca; export GIT_SSL_CAINFO="$ca"; fi \
    && apt-get ${ca:+-o "Acquire::https::CaInfo=$ca"} update \
    && apt-get ${ca:+-o "Acquire::https::CaInfo=$ca"} install --yes --no-install-recommends git \
    && git init --quiet /code \
    && git -C /code fetch --quiet --depth 1 https://github.com/hustvl/MapTR a6872d8d9670bde17b4b01560f1221f88b443d55 \
    && git -C /code checkout --quiet FETCH_HEAD \
    && rm -rf /code/.git /var/lib/apt/lists/*

# --- the doctor, in a folder of its own ---------------------------------------------------------
FROM system AS doctor
COPY doctor /tmp/doctor
# why: it never lives in the environment that it examines
RUN --mount=type=secret,id=ca,target=/run/secrets/ca \
    --mount=type=secret,id=pip,target=/etc/pip.conf \
    if [ -s /run/secrets/ca ]; then export PIP_CERT=/run/secrets/ca; fi \
    && python3.10 -m venv /opt/envdoctor \
    && /opt/envdoctor/bin/python -m pip install --no-cache-dir --disable-pip-version-check /tmp/doctor/*.whl

# --- the environment ----------------------------------------------------------------------------
FROM system AS environment
# why: python ==3.8.*: docs/install.md:9 of hustvl/MapTR @a6872d8d
# why: ubuntu:22.04 has Python 3.10
RUN --mount=type=secret,id=ca,target=/run/secrets/ca \
    --mount=type=secret,id=pip,target=/etc/pip.conf \
    if [ -s /run/secrets/ca ]; then export PIP_CERT=/run/secrets/ca SSL_CERT_FILE=/run/secrets/ca; fi \
    && python3.10 -m venv /tmp/uv \
    && /tmp/uv/bin/python -m pip install --no-cache-dir --disable-pip-version-check 'uv>=0.5,<1' \
    && UV_PYTHON_INSTALL_DIR=/opt/python /tmp/uv/bin/uv python install --no-cache 3.8 \
    && UV_PYTHON_INSTALL_DIR=/opt/python /tmp/uv/bin/uv venv --no-cache --seed --python 3.8 /opt/env \
    && rm -rf /tmp/uv
ENV VIRTUAL_ENV=/opt/env \
    PATH=/opt/env/bin:${PATH}
RUN --mount=type=secret,id=ca,target=/run/secrets/ca \
    --mount=type=secret,id=pip,target=/etc/pip.conf \
    --mount=type=cache,target=/root/.cache/pip \
    if [ -s /run/secrets/ca ]; then export PIP_CERT=/run/secrets/ca; fi \
    && python -m pip install --disable-pip-version-check 'pip>=20.3,<25.3'
WORKDIR /tmp/stack
COPY constraints.txt ./

# torch 2.0.0+cu118, torchvision 0.15.1+cu118, torchaudio 2.0.1+cu118
# why: torch 2.0.0+cu118, not torch ==1.9.1 (cuda 11.1): cuda/code
# why: torchvision 0.15.1+cu118, not torchvision ==0.10.1: cuda/code, torchvision/operators
# why: torchaudio 2.0.1+cu118, not torchaudio ==0.9.1: cuda/code, torchaudio/torch
COPY requirements-1.txt /tmp/stack/
RUN --mount=type=secret,id=ca,target=/run/secrets/ca \
    --mount=type=secret,id=pip,target=/etc/pip.conf \
    --mount=type=cache,target=/root/.cache/pip \
    if [ -s /run/secrets/ca ]; then export PIP_CERT=/run/secrets/ca; fi \
    && python -m pip install --disable-pip-version-check \
        --no-deps \
        --requirement requirements-1.txt

# mmdet 2.14.0, mmsegmentation 0.14.1, timm 1.0.30, shapely 1.8.5.post1, 16 more
# why: mmdet ==2.14.0: docs/install.md:32 of hustvl/MapTR @a6872d8d
# why: mmsegmentation ==0.14.1: docs/install.md:33 of hustvl/MapTR @a6872d8d
# why: timm: needed by docs/install.md:38 of hustvl/MapTR @a6872d8d; its release: timm/releases
# why: shapely ==1.8.5.post1: requirement.txt:1 of hustvl/MapTR @a6872d8d
# why: av2: needed by requirement.txt:2 of hustvl/MapTR @a6872d8d; its release: av2/any
# why: networkx >=2.2,<2.3: mmdetection3d/requirements/runtime.txt:2 of hustvl/MapTR @a6872d8d
# why: numba ==0.48.0: mmdetection3d/requirements/runtime.txt:4 of hustvl/MapTR @a6872d8d
# why: numpy>=1.21.5,<1.24: numpy<1.20.0 (mmdetection3d/requirements/runtime.txt:5) against numpy>=1.21.5 (metadata of av2 0.1.0.0 to 0.2.1 on PyPI; av2 of requirement.txt:2)
# why: nuscenes-devkit: needed by mmdetection3d/requirements/runtime.txt:6 of hustvl/MapTR @a6872d8d; its release: nuscenes-devkit/releases
# why: scikit-image: needed by mmdetection3d/requirements/runtime.txt:8 of hustvl/MapTR @a6872d8d; its release: scikit-image/0.16.2
# why: tensorboard: needed by mmdetection3d/requirements/runtime.txt:10 of hustvl/MapTR @a6872d8d; its release: tensorboard/2.12
# why: setuptools: needed by mmdetection3d/setup.py:1 of hustvl/MapTR @a6872d8d; its release: setuptools/49
# why: llvmlite 0.31.0: llvmlite/0.31
# why: lyft_dataset_sdk: mmdetection3d/requirements/runtime.txt:1 of hustvl/MapTR @a6872d8d
# why: plyfile: mmdetection3d/requirements/runtime.txt:7 of hustvl/MapTR @a6872d8d
# why: trimesh>=2.35.39,<2.35.40: mmdetection3d/requirements/runtime.txt:11 of hustvl/MapTR @a6872d8d
# why: pyquaternion: projects/mmdet3d_plugin/datasets/nuscenes_mono_dataset.py:5 of hustvl/MapTR @a6872d8d
# why: ipython: projects/mmdet3d_plugin/datasets/nuscnes_eval.py:53 of hustvl/MapTR @a6872d8d
# why: descartes: projects/mmdet3d_plugin/datasets/map_utils/tpfp_chamfer.py:97 of hustvl/MapTR @a6872d8d
# why: yapf<0.40.2: mmcv/utils/config.py:496 of mmcv-full 1.4.0 passes verify to yapf, which 0.40.2 no longer takes (both wheels read)
COPY requirements-2.txt /tmp/stack/
RUN --mount=type=secret,id=ca,target=/run/secrets/ca \
    --mount=type=secret,id=pip,target=/etc/pip.conf \
    --mount=type=cache,target=/root/.cache/pip \
    if [ -s /run/secrets/ca ]; then export PIP_CERT=/run/secrets/ca; fi \
    && python -m pip install --disable-pip-version-check \
        --constraint /tmp/stack/constraints.txt \
        --requirement requirements-2.txt

# wheel
COPY requirements-3.txt /tmp/stack/
RUN --mount=type=secret,id=ca,target=/run/secrets/ca \
    --mount=type=secret,id=pip,target=/etc/pip.conf \
    --mount=type=cache,target=/root/.cache/pip \
    if [ -s /run/secrets/ca ]; then export PIP_CERT=/run/secrets/ca; fi \
    && python -m pip install --disable-pip-version-check \
        --constraint /tmp/stack/constraints.txt \
        --requirement requirements-3.txt

# mmcv-full 1.4.0
# why: mmcv-full ==1.4.0: docs/install.md:26 of hustvl/MapTR @a6872d8d
# why: patch mmcv-ddp-forward: DistributedDataParallel of torch 1.12 calls _run_ddp_forward and no longer to_kwargs, which unpacks DataContainers
# why: patch mmcv-ddp-sync-params: DistributedDataParallel of torch 1.11 has _sync_buffers where it had _sync_params
# why: patch mmcv-thc: THC/THC.h went with torch 1.11, and what is used of it stands in ATen/cuda/CUDAContext.h
COPY apply_patches.py patches-mmcv-full.json /tmp/stack/
RUN --mount=type=secret,id=ca,target=/run/secrets/ca \
    --mount=type=secret,id=pip,target=/etc/pip.conf \
    --mount=type=cache,target=/root/.cache/pip \
    if [ -s /run/secrets/ca ]; then export PIP_CERT=/run/secrets/ca; fi \
    && python -m pip download --no-deps --no-build-isolation --no-binary mmcv-full --dest /tmp/sources/mmcv-full.archive mmcv-full==1.4.0 \
    && python -c 'import glob, shutil, sys; [shutil.unpack_archive(one, sys.argv[2]) for one in glob.glob(sys.argv[1] + '"'"'/*'"'"')]' /tmp/sources/mmcv-full.archive /tmp/sources/mmcv-full \
    && python /tmp/stack/apply_patches.py /tmp/stack/patches-mmcv-full.json /tmp/sources/mmcv-full/*/ \
    && FORCE_CUDA=1 TORCH_CUDA_ARCH_LIST=9.0 \
        python -m pip install --disable-pip-version-check \
        --no-cache-dir \
        --no-build-isolation \
        --constraint /tmp/stack/constraints.txt \
        /tmp/sources/mmcv-full/*/

# --- the training code and what is compiled from it ------------------------------------------------
# why: hustvl/MapTR at the commit that the profile was read at, a6872d8d
COPY --from=code /code /workspace/maptr
WORKDIR /workspace/maptr
# why: patch maptr-local-rank: torch.distributed.launch of torch 2.0 passes --local-rank
COPY apply_patches.py patches-maptr.json /tmp/stack/
RUN python /tmp/stack/apply_patches.py /tmp/stack/patches-maptr.json .

# mmdet3d 0.17.2
# why: mmdet3d ==0.17.2: mmdetection3d/mmdet3d/version.py:3 of hustvl/MapTR @a6872d8d
# why: patch mmdet3d-thc: THC/THC.h went with torch 1.11, and what is used of it stands in ATen/cuda/CUDAContext.h
COPY apply_patches.py patches-mmdet3d.json /tmp/stack/
RUN --mount=type=secret,id=ca,target=/run/secrets/ca \
    --mount=type=secret,id=pip,target=/etc/pip.conf \
    --mount=type=cache,target=/root/.cache/pip \
    if [ -s /run/secrets/ca ]; then export PIP_CERT=/run/secrets/ca; fi \
    && python /tmp/stack/apply_patches.py /tmp/stack/patches-mmdet3d.json ./mmdetection3d \
    && FORCE_CUDA=1 TORCH_CUDA_ARCH_LIST=9.0 \
        python -m pip install --disable-pip-version-check \
        --no-deps \
        --no-cache-dir \
        --no-build-isolation \
        --editable ./mmdetection3d

# geometrickernelattention 1.0
# why: geometrickernelattention ==1.0: docs/install.md:52 of hustvl/MapTR @a6872d8d
# why: patch maptr-gka-without-gpu: setup.py stops where torch sees no GPU, as in the build of an image, though nvcc needs none
COPY apply_patches.py patches-geometrickernelattention.json /tmp/stack/
RUN --mount=type=secret,id=ca,target=/run/secrets/ca \
    --mount=type=secret,id=pip,target=/etc/pip.conf \
    --mount=type=cache,target=/root/.cache/pip \
    if [ -s /run/secrets/ca ]; then export PIP_CERT=/run/secrets/ca; fi \
    && python /tmp/stack/apply_patches.py /tmp/stack/patches-geometrickernelattention.json ./projects/mmdet3d_plugin/maptr/modules/ops/geometric_kernel_attn \
    && FORCE_CUDA=1 TORCH_CUDA_ARCH_LIST=9.0 \
        python -m pip install --disable-pip-version-check \
        --no-deps \
        --no-cache-dir \
        --no-build-isolation \
        --editable ./projects/mmdet3d_plugin/maptr/modules/ops/geometric_kernel_attn

# --- the image ----------------------------------------------------------------------------------
FROM system
COPY --from=doctor /opt/envdoctor /opt/envdoctor
COPY --from=environment /opt/python /opt/python
COPY --from=environment /opt/env /opt/env
ENV VIRTUAL_ENV=/opt/env \
    PATH=/opt/env/bin:${PATH}
# why: training as root writes files that nobody else can delete
ARG UID=1001
RUN useradd --create-home --shell /bin/bash --uid "${UID}" trainer
COPY --from=environment --chown=trainer /workspace/maptr /workspace/maptr
WORKDIR /workspace/maptr
LABEL org.opencontainers.image.title="maptr"
LABEL org.opencontainers.image.source="https://github.com/hustvl/MapTR"
LABEL org.opencontainers.image.revision="a6872d8d9670bde17b4b01560f1221f88b443d55"
LABEL envdoctor.version="0.1.0"
LABEL envdoctor.matrices="2026-12-01"
LABEL envdoctor.architectures="9.0"
USER ${UID}
# why: what libraries hold is read once, so that the gate is quick
RUN XDG_CACHE_HOME=/home/trainer/.cache /opt/envdoctor/bin/envdoctor facts --python /opt/env/bin/python --output /home/trainer/facts.json
ENTRYPOINT ["/usr/bin/tini", "--"]
CMD ["bash"]

# constraints.txt
av2==0.2.1
llvmlite==0.31.0
mmcv-full==1.4.0
mmdet==2.14.0
mmsegmentation==0.14.1
networkx==2.2
numba==0.48.0
numpy==1.23.5
nuscenes-devkit==1.1.11
scikit-image==0.19.3
setuptools==75.3.4
shapely==1.8.5.post1
tensorboard==2.14.0
timm==1.0.30
torch==2.0.0+cu118
torchaudio==2.0.1+cu118
torchvision==0.15.1+cu118

# requirements-1.txt
--index-url https://download.pytorch.org/whl/cu118

torch==2.0.0+cu118
torchvision==0.15.1+cu118
torchaudio==2.0.1+cu118

# requirements-2.txt
mmdet==2.14.0
mmsegmentation==0.14.1
timm==1.0.30
shapely==1.8.5.post1
av2==0.2.1
networkx==2.2
numba==0.48.0
numpy==1.23.5
nuscenes-devkit==1.1.11
scikit-image==0.19.3
tensorboard==2.14.0
setuptools==75.3.4
llvmlite==0.31.0
lyft-dataset-sdk
plyfile
trimesh<2.35.40,>=2.35.39
pyquaternion
ipython
descartes
yapf<0.40.2
torch==2.0.0+cu118
torchvision==0.15.1+cu118
torchaudio==2.0.1+cu118

# requirements-3.txt
wheel
