# Locked by envdoctor 0.1.0, matrices of 2026-12-01
# Asked for: MapTR
# For: GPU A100 (compute capability 8.0), processor architecture x86_64, Python 3.8
# Not installed here, and needed: image nvidia/cuda:11.1.1-cudnn8-devel-ubuntu20.04
# Holds if: NVIDIA driver is not known; torch, torchvision, torchaudio, mmcv-full asks for it [cuda/minor, cuda/exact]
# Holds if: CUDA version that the driver serves is not known; torch, torchvision, torchaudio, mmcv-full asks for it [cuda/minor, cuda/exact]
ARG BASE_IMAGE=nvidia/cuda:11.1.1-cudnn8-devel-ubuntu20.04

# --- the system ---------------------------------------------------------------------------------
# why: image nvidia/cuda:11.1.1-cudnn8-devel-ubuntu20.04: table/base_image
FROM ${BASE_IMAGE} AS system
ARG DEBIAN_FRONTEND=noninteractive
# why: table/apt_key: NVIDIA exchanged the key, and images of before hold the old one
RUN rm -f /etc/apt/sources.list.d/cuda.list /etc/apt/sources.list.d/nvidia-ml.list
# hadolint ignore=DL3008  # the distribution's archive keeps the newest release of a package alone
RUN --mount=type=secret,id=ca,target=/run/secrets/ca \
    if [ -s /run/secrets/ca ]; then ca=/run/secrets/ca; fi \
    && apt-get ${ca:+-o "Acquire::https::CaInfo=$ca"} update \
    && apt-get ${ca:+-o "Acquire::https::CaInfo=$ca"} install --yes --no-install-recommends \
        ca-certificates \
        python3.8 \
        python3.8-dev \
        python3.8-venv \
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
    && python3.8 -m venv /opt/envdoctor \
    && /opt/envdoctor/bin/python -m pip install --no-cache-dir --disable-pip-version-check /tmp/doctor/*.whl

# --- the environment ----------------------------------------------------------------------------
FROM system AS environment
# why: python ==3.8.*: docs/install.md:9 of hustvl/MapTR @a6872d8d
RUN python3.8 -m venv /opt/env
ENV VIRTUAL_ENV=/opt/env \
    PATH=/opt/env/bin:${PATH}
RUN --mount=type=secret,id=ca,target=/run/secrets/ca \
    --mount=type=secret,id=pip,target=/etc/pip.conf \
    --mount=type=cache,target=/root/.cache/pip \
    if [ -s /run/secrets/ca ]; then export PIP_CERT=/run/secrets/ca; fi \
    && python -m pip install --disable-pip-version-check 'pip>=20.3,<25.3'
WORKDIR /tmp/stack
COPY constraints.txt ./

# torch 1.9.1+cu111, torchvision 0.10.1+cu111
# why: torch ==1.9.1: docs/install.md:15 of hustvl/MapTR @a6872d8d
# why: torchvision ==0.10.1: docs/install.md:15 of hustvl/MapTR @a6872d8d
COPY requirements-1.txt /tmp/stack/
RUN --mount=type=secret,id=ca,target=/run/secrets/ca \
    --mount=type=secret,id=pip,target=/etc/pip.conf \
    --mount=type=cache,target=/root/.cache/pip \
    if [ -s /run/secrets/ca ]; then export PIP_CERT=/run/secrets/ca; fi \
    && python -m pip install --disable-pip-version-check \
        --no-deps \
        --requirement requirements-1.txt

# mmcv-full 1.4.0
# why: mmcv-full ==1.4.0: docs/install.md:26 of hustvl/MapTR @a6872d8d
COPY requirements-2.txt /tmp/stack/
RUN --mount=type=secret,id=ca,target=/run/secrets/ca \
    --mount=type=secret,id=pip,target=/etc/pip.conf \
    --mount=type=cache,target=/root/.cache/pip \
    if [ -s /run/secrets/ca ]; then export PIP_CERT=/run/secrets/ca; fi \
    && python -m pip install --disable-pip-version-check \
        --no-deps \
        --no-cache-dir \
        --requirement requirements-2.txt

# torchaudio 0.9.1, mmdet 2.14.0, mmsegmentation 0.14.1, timm 1.0.30, 17 more
# why: torchaudio ==0.9.1: docs/install.md:15 of hustvl/MapTR @a6872d8d
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
COPY requirements-3.txt /tmp/stack/
RUN --mount=type=secret,id=ca,target=/run/secrets/ca \
    --mount=type=secret,id=pip,target=/etc/pip.conf \
    --mount=type=cache,target=/root/.cache/pip \
    if [ -s /run/secrets/ca ]; then export PIP_CERT=/run/secrets/ca; fi \
    && python -m pip install --disable-pip-version-check \
        --constraint /tmp/stack/constraints.txt \
        --requirement requirements-3.txt

# wheel
COPY requirements-4.txt /tmp/stack/
RUN --mount=type=secret,id=ca,target=/run/secrets/ca \
    --mount=type=secret,id=pip,target=/etc/pip.conf \
    --mount=type=cache,target=/root/.cache/pip \
    if [ -s /run/secrets/ca ]; then export PIP_CERT=/run/secrets/ca; fi \
    && python -m pip install --disable-pip-version-check \
        --constraint /tmp/stack/constraints.txt \
        --requirement requirements-4.txt

# --- the training code and what is compiled from it ------------------------------------------------
# why: hustvl/MapTR at the commit that the profile was read at, a6872d8d
COPY --from=code /code /workspace/maptr
WORKDIR /workspace/maptr

# mmdet3d 0.17.2, geometrickernelattention 1.0
# why: mmdet3d ==0.17.2: mmdetection3d/mmdet3d/version.py:3 of hustvl/MapTR @a6872d8d
# why: geometrickernelattention ==1.0: docs/install.md:52 of hustvl/MapTR @a6872d8d
# why: patch maptr-gka-without-gpu: setup.py stops where torch sees no GPU, as in the build of an image, though nvcc needs none
COPY apply_patches.py patches-geometrickernelattention.json /tmp/stack/
RUN --mount=type=secret,id=ca,target=/run/secrets/ca \
    --mount=type=secret,id=pip,target=/etc/pip.conf \
    --mount=type=cache,target=/root/.cache/pip \
    if [ -s /run/secrets/ca ]; then export PIP_CERT=/run/secrets/ca; fi \
    && python /tmp/stack/apply_patches.py /tmp/stack/patches-geometrickernelattention.json ./projects/mmdet3d_plugin/maptr/modules/ops/geometric_kernel_attn \
    && FORCE_CUDA=1 TORCH_CUDA_ARCH_LIST=8.0 \
        python -m pip install --disable-pip-version-check \
        --no-deps \
        --no-cache-dir \
        --no-build-isolation \
        --editable ./mmdetection3d \
        --editable ./projects/mmdet3d_plugin/maptr/modules/ops/geometric_kernel_attn

# --- the image ----------------------------------------------------------------------------------
FROM system
COPY --from=doctor /opt/envdoctor /opt/envdoctor
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
LABEL envdoctor.architectures="8.0"
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
setuptools==59.5.0
shapely==1.8.5.post1
tensorboard==2.14.0
timm==1.0.30
torch==1.9.1+cu111
torchaudio==0.9.1
torchvision==0.10.1+cu111

# requirements-1.txt
--find-links https://download.pytorch.org/whl/torch_stable.html

torch==1.9.1+cu111
torchvision==0.10.1+cu111

# requirements-2.txt
--find-links https://download.openmmlab.com/mmcv/dist/cu111/torch1.9.0/index.html
--only-binary mmcv-full

mmcv-full==1.4.0

# requirements-3.txt
torchaudio==0.9.1
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
setuptools==59.5.0
llvmlite==0.31.0
lyft-dataset-sdk
plyfile
trimesh<2.35.40,>=2.35.39
pyquaternion
ipython
descartes
yapf<0.40.2
torch==1.9.1+cu111
torchvision==0.10.1+cu111
mmcv-full==1.4.0

# requirements-4.txt
wheel
