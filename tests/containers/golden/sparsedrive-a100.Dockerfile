# Locked by envdoctor 0.1.0, matrices of 2026-12-01
# Asked for: SparseDrive
# For: GPU A100 (compute capability 8.0), processor architecture x86_64, Python 3.8
# Not installed here, and needed: image nvidia/cuda:11.6.2-cudnn8-devel-ubuntu20.04
# Holds if: NVIDIA driver is not known; torch, torchvision, torchaudio, mmcv-full, flash-attn asks for it [cuda/minor]
# Holds if: CUDA version that the driver serves is not known; torch, torchvision, torchaudio, mmcv-full, flash-attn asks for it [cuda/minor]
ARG BASE_IMAGE=nvidia/cuda:11.6.2-cudnn8-devel-ubuntu20.04

# --- the system ---------------------------------------------------------------------------------
# why: image nvidia/cuda:11.6.2-cudnn8-devel-ubuntu20.04: table/base_image
FROM ${BASE_IMAGE} AS system
ARG DEBIAN_FRONTEND=noninteractive
# why: table/apt_key: NVIDIA exchanged the key, and images of before hold the old one
RUN rm -f /etc/apt/sources.list.d/cuda.list /etc/apt/sources.list.d/nvidia-ml.list
# why: libgl1: loaded by opencv-python
# why: libglib2.0-0: loaded by opencv-python
# hadolint ignore=DL3008  # the distribution's archive keeps the newest release of a package alone
RUN --mount=type=secret,id=ca,target=/run/secrets/ca \
    if [ -s /run/secrets/ca ]; then ca=/run/secrets/ca; fi \
    && apt-get ${ca:+-o "Acquire::https::CaInfo=$ca"} update \
    && apt-get ${ca:+-o "Acquire::https::CaInfo=$ca"} install --yes --no-install-recommends \
        ca-certificates \
        libgl1 \
        libglib2.0-0 \
        python3.8 \
        python3.8-dev \
        python3.8-venv \
        tini \
    && rm -rf /var/lib/apt/lists/*

# --- the training code --------------------------------------------------------------------------
FROM system AS code
# why: swc-17/SparseDrive at the commit that the profile was read at, ec0225d4
# hadolint ignore=DL3008
RUN --mount=type=secret,id=ca,target=/run/secrets/ca \
    if [ -s /run/secrets/ca ]; then ca=/run/secrets/ca; export GIT_SSL_CAINFO="$ca"; fi \
    && apt-get ${ca:+-o "Acquire::https::CaInfo=$ca"} update \
    && apt-get ${ca:+-o "Acquire::https::CaInfo=$ca"} install --yes --no-install-recommends git \
    && git init --quiet /code \
    && git -C /code fetch --quiet --depth 1 https://github.com/swc-17/SparseDrive ec0225d4b7a2dd7e6ce10179a2b7660dcb74b2f1 \
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
# why: python ==3.8.*: docs/quick_start.md:5 of swc-17/SparseDrive @ec0225d4
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

# torch 1.13.0+cu116, torchvision 0.14.0+cu116, torchaudio 0.13.0+cu116
# why: torch ==1.13.0: docs/quick_start.md:14 of swc-17/SparseDrive @ec0225d4
# why: torchvision ==0.14.0: docs/quick_start.md:14 of swc-17/SparseDrive @ec0225d4
# why: torchaudio ==0.13.0: docs/quick_start.md:14 of swc-17/SparseDrive @ec0225d4
COPY requirements-1.txt /tmp/stack/
RUN --mount=type=secret,id=ca,target=/run/secrets/ca \
    --mount=type=secret,id=pip,target=/etc/pip.conf \
    --mount=type=cache,target=/root/.cache/pip \
    if [ -s /run/secrets/ca ]; then export PIP_CERT=/run/secrets/ca; fi \
    && python -m pip install --disable-pip-version-check \
        --no-deps \
        --requirement requirements-1.txt

# mmcv-full 1.7.1
# why: mmcv-full ==1.7.1: requirement.txt:2 of swc-17/SparseDrive @ec0225d4
COPY requirements-2.txt /tmp/stack/
RUN --mount=type=secret,id=ca,target=/run/secrets/ca \
    --mount=type=secret,id=pip,target=/etc/pip.conf \
    --mount=type=cache,target=/root/.cache/pip \
    if [ -s /run/secrets/ca ]; then export PIP_CERT=/run/secrets/ca; fi \
    && python -m pip install --disable-pip-version-check \
        --no-deps \
        --no-cache-dir \
        --requirement requirements-2.txt

# numpy 1.23.5, mmdet 2.28.2, nuscenes-devkit 1.1.10, tensorboard 2.14.0, 1 more
# why: numpy ==1.23.5: requirement.txt:1 of swc-17/SparseDrive @ec0225d4
# why: mmdet ==2.28.2: requirement.txt:3 of swc-17/SparseDrive @ec0225d4
# why: nuscenes-devkit ==1.1.10: requirement.txt:6 of swc-17/SparseDrive @ec0225d4
# why: tensorboard ==2.14.0: requirement.txt:8 of swc-17/SparseDrive @ec0225d4
# why: pandas ==1.1.5: requirement.txt:10 of swc-17/SparseDrive @ec0225d4
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

# flash-attn 2.3.2
# why: flash-attn ==2.3.2: requirement.txt:11 of swc-17/SparseDrive @ec0225d4
COPY requirements-5.txt /tmp/stack/
RUN --mount=type=secret,id=ca,target=/run/secrets/ca \
    --mount=type=secret,id=pip,target=/etc/pip.conf \
    --mount=type=cache,target=/root/.cache/pip \
    if [ -s /run/secrets/ca ]; then export PIP_CERT=/run/secrets/ca; fi \
    && python -m pip install --disable-pip-version-check \
        --no-cache-dir \
        --no-build-isolation \
        --constraint /tmp/stack/constraints.txt \
        --requirement requirements-5.txt

# opencv-python 4.8.1.78, scikit-learn 1.3.0, shapely 1.8.5, scipy 1.10.1, 10 more
# why: opencv-python ==4.8.1.78: requirement.txt:12 of swc-17/SparseDrive @ec0225d4
# why: scikit-learn ==1.3.0: requirement.txt:14 of swc-17/SparseDrive @ec0225d4
# why: shapely: needed by projects/mmdet3d_plugin/datasets/nuscenes_3d_dataset.py:14 of swc-17/SparseDrive @ec0225d4; its release: shapely/1.7.0
# why: scipy: needed by projects/mmdet3d_plugin/datasets/evaluation/map/distance.py:1 of swc-17/SparseDrive @ec0225d4; its release: scipy/1.4.0
# why: pycocotools: needed by projects/mmdet3d_plugin/apis/test.py:23 of swc-17/SparseDrive @ec0225d4; its release: pycocotools/2.0.7
# why: setuptools: needed by projects/mmdet3d_plugin/ops/setup.py:4 of swc-17/SparseDrive @ec0225d4; its release: setuptools/49
# why: urllib3==1.26.16: requirement.txt:4 of swc-17/SparseDrive @ec0225d4
# why: pyquaternion==0.9.9: requirement.txt:5 of swc-17/SparseDrive @ec0225d4
# why: yapf==0.33.0: requirement.txt:7 of swc-17/SparseDrive @ec0225d4
# why: motmetrics==1.1.3: requirement.txt:9 of swc-17/SparseDrive @ec0225d4
# why: prettytable==3.7.0: requirement.txt:13 of swc-17/SparseDrive @ec0225d4
# why: einops: projects/mmdet3d_plugin/models/attention.py:17 of swc-17/SparseDrive @ec0225d4
# why: ipython: projects/mmdet3d_plugin/datasets/samplers/group_sampler.py:10 of swc-17/SparseDrive @ec0225d4
# why: tqdm: projects/mmdet3d_plugin/datasets/evaluation/planning/planning_eval.py:1 of swc-17/SparseDrive @ec0225d4
COPY requirements-6.txt /tmp/stack/
RUN --mount=type=secret,id=ca,target=/run/secrets/ca \
    --mount=type=secret,id=pip,target=/etc/pip.conf \
    --mount=type=cache,target=/root/.cache/pip \
    if [ -s /run/secrets/ca ]; then export PIP_CERT=/run/secrets/ca; fi \
    && python -m pip install --disable-pip-version-check \
        --constraint /tmp/stack/constraints.txt \
        --requirement requirements-6.txt

# --- the training code and what is compiled from it ------------------------------------------------
# why: swc-17/SparseDrive at the commit that the profile was read at, ec0225d4
COPY --from=code /code /workspace/sparsedrive
WORKDIR /workspace/sparsedrive

# deformable-aggregation-ext 0.0.0
# why: deformable-aggregation-ext ==0.0.0: docs/quick_start.md:20 of swc-17/SparseDrive @ec0225d4
RUN --mount=type=secret,id=ca,target=/run/secrets/ca \
    --mount=type=secret,id=pip,target=/etc/pip.conf \
    --mount=type=cache,target=/root/.cache/pip \
    if [ -s /run/secrets/ca ]; then export PIP_CERT=/run/secrets/ca; fi \
    && FORCE_CUDA=1 TORCH_CUDA_ARCH_LIST=8.0 \
        python -m pip install --disable-pip-version-check \
        --no-cache-dir \
        --no-build-isolation \
        --constraint /tmp/stack/constraints.txt \
        --editable ./projects/mmdet3d_plugin/ops

# --- the image ----------------------------------------------------------------------------------
FROM system
COPY --from=doctor /opt/envdoctor /opt/envdoctor
COPY --from=environment /opt/env /opt/env
ENV VIRTUAL_ENV=/opt/env \
    PATH=/opt/env/bin:${PATH}
# why: training as root writes files that nobody else can delete
ARG UID=1001
RUN useradd --create-home --shell /bin/bash --uid "${UID}" trainer
COPY --from=environment --chown=trainer /workspace/sparsedrive /workspace/sparsedrive
WORKDIR /workspace/sparsedrive
LABEL org.opencontainers.image.title="sparsedrive"
LABEL org.opencontainers.image.source="https://github.com/swc-17/SparseDrive"
LABEL org.opencontainers.image.revision="ec0225d4b7a2dd7e6ce10179a2b7660dcb74b2f1"
LABEL envdoctor.version="0.1.0"
LABEL envdoctor.matrices="2026-12-01"
LABEL envdoctor.architectures="8.0"
USER ${UID}
# why: what libraries hold is read once, so that the gate is quick
RUN XDG_CACHE_HOME=/home/trainer/.cache /opt/envdoctor/bin/envdoctor facts --python /opt/env/bin/python --output /home/trainer/facts.json
ENTRYPOINT ["/usr/bin/tini", "--"]
CMD ["bash"]

# constraints.txt
flash-attn==2.3.2
mmcv-full==1.7.1
mmdet==2.28.2
numpy==1.23.5
nuscenes-devkit==1.1.10
opencv-python==4.8.1.78
pandas==1.1.5
pycocotools==2.0.7
scikit-learn==1.3.0
scipy==1.10.1
setuptools==75.3.4
shapely==1.8.5
tensorboard==2.14.0
torch==1.13.0+cu116
torchaudio==0.13.0+cu116
torchvision==0.14.0+cu116

# requirements-1.txt
--index-url https://download.pytorch.org/whl/cu116

torch==1.13.0+cu116
torchvision==0.14.0+cu116
torchaudio==0.13.0+cu116

# requirements-2.txt
--find-links https://download.openmmlab.com/mmcv/dist/cu116/torch1.13.0/index.html
--only-binary mmcv-full

mmcv-full==1.7.1

# requirements-3.txt
numpy==1.23.5
mmdet==2.28.2
nuscenes-devkit==1.1.10
tensorboard==2.14.0
pandas==1.1.5
torch==1.13.0+cu116
torchvision==0.14.0+cu116
torchaudio==0.13.0+cu116
mmcv-full==1.7.1

# requirements-4.txt
wheel

# requirements-5.txt
flash-attn==2.3.2

# requirements-6.txt
opencv-python==4.8.1.78
scikit-learn==1.3.0
shapely==1.8.5
scipy==1.10.1
pycocotools==2.0.7
setuptools==75.3.4
urllib3==1.26.16
pyquaternion==0.9.9
yapf==0.33.0
motmetrics==1.1.3
prettytable==3.7.0
einops
ipython
tqdm
