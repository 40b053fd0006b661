# Locked by envdoctor 0.1.0, matrices of 2026-12-01
# Asked for: GaussianFormer
# For: GPU H100 (compute capability 9.0), processor architecture x86_64, Python 3.8
# Not installed here, and needed: image nvidia/cuda:11.8.0-cudnn8-devel-ubuntu22.04
# Holds if: NVIDIA driver is not known; torch, torchvision, torchaudio, mmcv, spconv-cu117 asks for it [cuda/minor]
# Holds if: CUDA version that the driver serves is not known; torch, torchvision, torchaudio, mmcv, spconv-cu117 asks for it [cuda/minor]
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
# why: huang-yh/GaussianFormer at the commit that the profile was read at, fa063a88
# hadolint ignore=DL3008
RUN --mount=type=secret,id=ca,target=/run/secrets/ca \
    if [ -s /run/secrets/ca ]; then ca=/run/secrets/ca; export GIT_SSL_CAINFO="$ca"; fi \
    && apt-get ${ca:+-o "Acquire::https::CaInfo=$ca"} update \
    && apt-get ${ca:+-o "Acquire::https::CaInfo=$ca"} install --yes --no-install-recommends git \
    && git init --quiet /code \
    && git -C /code fetch --quiet --depth 1 https://github.com/huang-yh/GaussianFormer fa063a88b1a471cd7e3b934c8dc073681c324cbc \
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
# why: python ==3.8.*: docs/installation.md:6 of huang-yh/GaussianFormer @fa063a88
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
# why: torch ==2.0.0: docs/installation.md:12 of huang-yh/GaussianFormer @fa063a88
# why: torchvision ==0.15.1: docs/installation.md:12 of huang-yh/GaussianFormer @fa063a88
# why: torchaudio ==2.0.1: docs/installation.md:12 of huang-yh/GaussianFormer @fa063a88
COPY requirements-1.txt /tmp/stack/
RUN --mount=type=secret,id=ca,target=/run/secrets/ca \
    --mount=type=secret,id=pip,target=/etc/pip.conf \
    --mount=type=cache,target=/root/.cache/pip \
    if [ -s /run/secrets/ca ]; then export PIP_CERT=/run/secrets/ca; fi \
    && python -m pip install --disable-pip-version-check \
        --no-deps \
        --requirement requirements-1.txt

# mmcv 2.0.1
# why: mmcv ==2.0.1: docs/installation.md:18 of huang-yh/GaussianFormer @fa063a88
COPY requirements-2.txt /tmp/stack/
RUN --mount=type=secret,id=ca,target=/run/secrets/ca \
    --mount=type=secret,id=pip,target=/etc/pip.conf \
    --mount=type=cache,target=/root/.cache/pip \
    if [ -s /run/secrets/ca ]; then export PIP_CERT=/run/secrets/ca; fi \
    && python -m pip install --disable-pip-version-check \
        --no-deps \
        --no-cache-dir \
        --requirement requirements-2.txt

# openmim 0.3.9, mmdet 3.0.0, mmsegmentation 1.0.0, mmdet3d 1.1.1, 9 more
# why: openmim: needed by docs/installation.md:17 of huang-yh/GaussianFormer @fa063a88; its release: openmim/releases
# why: mmdet ==3.0.0: docs/installation.md:19 of huang-yh/GaussianFormer @fa063a88
# why: mmsegmentation ==1.0.0: docs/installation.md:20 of huang-yh/GaussianFormer @fa063a88
# why: mmdet3d ==1.1.1: docs/installation.md:21 of huang-yh/GaussianFormer @fa063a88
# why: mmengine >=0.7.1,<1.0.0: mmdet3d 1.1.1, asserted at import
# why: spconv-cu117: needed by docs/installation.md:26 of huang-yh/GaussianFormer @fa063a88; its release: spconv-cu117/2.2.6
# why: timm: needed by docs/installation.md:27 of huang-yh/GaussianFormer @fa063a88; its release: timm/releases
# why: tensorboard: needed by misc/tb_wrapper.py:1 of huang-yh/GaussianFormer @fa063a88; its release: tensorboard/2.12
# why: setuptools: needed by model/head/localagg/setup.py:12 of huang-yh/GaussianFormer @fa063a88; its release: setuptools/49
# why: cumm-cu117 0.6.3: cumm-cu117/wheels
# why: jaxtyping: model/utils/sampler.py:1 of huang-yh/GaussianFormer @fa063a88
# why: einops: model/lifter/gaussian_lifter_v2.py:3 of huang-yh/GaussianFormer @fa063a88
# why: pyquaternion: dataset/dataset.py:4 of huang-yh/GaussianFormer @fa063a88
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
# why: huang-yh/GaussianFormer at the commit that the profile was read at, fa063a88
COPY --from=code /code /workspace/gaussianformer
WORKDIR /workspace/gaussianformer

# deformable-aggregation-ext 0.0.0, local-aggregate 0.0.0, local-aggregate-prob 0.0.0, local-aggregate-prob-fast 0.0.0
# why: deformable-aggregation-ext ==0.0.0: docs/installation.md:32 of huang-yh/GaussianFormer @fa063a88
# why: local-aggregate ==0.0.0: docs/installation.md:33 of huang-yh/GaussianFormer @fa063a88
# why: local-aggregate-prob ==0.0.0: docs/installation.md:35 of huang-yh/GaussianFormer @fa063a88
# why: local-aggregate-prob-fast ==0.0.0: docs/installation.md:36 of huang-yh/GaussianFormer @fa063a88
RUN --mount=type=secret,id=ca,target=/run/secrets/ca \
    --mount=type=secret,id=pip,target=/etc/pip.conf \
    --mount=type=cache,target=/root/.cache/pip \
    if [ -s /run/secrets/ca ]; then export PIP_CERT=/run/secrets/ca; fi \
    && FORCE_CUDA=1 TORCH_CUDA_ARCH_LIST=9.0 \
        python -m pip install --disable-pip-version-check \
        --no-deps \
        --no-cache-dir \
        --no-build-isolation \
        --editable ./model/encoder/gaussian_encoder/ops \
        --editable ./model/head/localagg \
        --editable ./model/head/localagg_prob \
        --editable ./model/head/localagg_prob_fast

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
COPY --from=environment --chown=trainer /workspace/gaussianformer /workspace/gaussianformer
WORKDIR /workspace/gaussianformer
LABEL org.opencontainers.image.title="gaussianformer"
LABEL org.opencontainers.image.source="https://github.com/huang-yh/GaussianFormer"
LABEL org.opencontainers.image.revision="fa063a88b1a471cd7e3b934c8dc073681c324cbc"
LABEL envdoctor.version="0.1.0"
LABEL envdoctor.matrices="2026-12-01"
LABEL envdoctor.architectures="9.0"
USER ${UID}
# why: what libraries hold is read once, so that the gate is quick
RUN XDG_CACHE_HOME=/home/trainer/.cache /opt/envdoctor/bin/envdoctor facts --python /opt/env/bin/python --output /home/trainer/facts.json
ENTRYPOINT ["/usr/bin/tini", "--"]
CMD ["bash"]

# constraints.txt
cumm-cu117==0.6.3
mmcv==2.0.1
mmdet==3.0.0
mmdet3d==1.1.1
mmengine==0.10.7
mmsegmentation==1.0.0
openmim==0.3.9
setuptools==75.3.4
spconv-cu117==2.2.6
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
--find-links https://download.openmmlab.com/mmcv/dist/cu118/torch2.0.0/index.html
--only-binary mmcv

mmcv==2.0.1

# requirements-3.txt
openmim==0.3.9
mmdet==3.0.0
mmsegmentation==1.0.0
mmdet3d==1.1.1
mmengine==0.10.7
spconv-cu117==2.2.6
timm==1.0.30
tensorboard==2.14.0
setuptools==75.3.4
cumm-cu117==0.6.3
jaxtyping
einops
pyquaternion
torch==2.0.0+cu118
torchvision==0.15.1+cu118
torchaudio==2.0.1+cu118
mmcv==2.0.1

# requirements-4.txt
wheel
