# Locked by envdoctor 0.1.0, matrices of 2026-12-01
# Asked for: PETRv2
# For: GPU A100 (compute capability 8.0), processor architecture x86_64, Python 3.8
# Not installed here, and needed: image nvidia/cuda:11.2.2-cudnn8-devel-ubuntu20.04
# Not as asked: paddlepaddle-gpu ==2.4.1, but 2.4.2.post112
# Holds if: NVIDIA driver is not known; paddlepaddle-gpu asks for it [cuda/minor]
# Holds if: CUDA version that the driver serves is not known; paddlepaddle-gpu asks for it [cuda/minor]
ARG BASE_IMAGE=nvidia/cuda:11.2.2-cudnn8-devel-ubuntu20.04

# --- the system ---------------------------------------------------------------------------------
# why: image nvidia/cuda:11.2.2-cudnn8-devel-ubuntu20.04: table/base_image
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
# why: PaddlePaddle/Paddle3D at the commit that the profile was read at, 3259dabe
# hadolint ignore=DL3008
RUN --mount=type=secret,id=ca,target=/run/secrets/ca \
    if [ -s /run/secrets/ca ]; then ca=/run/secrets/ca; export GIT_SSL_CAINFO="$ca"; fi \
    && apt-get ${ca:+-o "Acquire::https::CaInfo=$ca"} update \
    && apt-get ${ca:+-o "Acquire::https::CaInfo=$ca"} install --yes --no-install-recommends git \
    && git init --quiet /code \
    && git -C /code fetch --quiet --depth 1 https://github.com/PaddlePaddle/Paddle3D 3259dabef7d102fe548c1c1ced9152ad32f3e19b \
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
# why: python ==3.8.*: docs/installation.md:51 of PaddlePaddle/Paddle3D @3259dabe
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

# paddlepaddle-gpu 2.4.2.post112
# why: paddlepaddle-gpu 2.4.2.post112, not paddlepaddle-gpu ==2.4.1: image/cuda, image/libraries
COPY requirements-1.txt /tmp/stack/
RUN --mount=type=secret,id=ca,target=/run/secrets/ca \
    --mount=type=secret,id=pip,target=/etc/pip.conf \
    --mount=type=cache,target=/root/.cache/pip \
    if [ -s /run/secrets/ca ]; then export PIP_CERT=/run/secrets/ca; fi \
    && python -m pip install --disable-pip-version-check \
        --no-deps \
        --requirement requirements-1.txt

# numba 0.58.1, numpy 1.24.4, nuscenes-devkit 1.1.9, opencv-python 4.6.0.66, 24 more
# why: numba >=0.56: requirements.txt:4 of PaddlePaddle/Paddle3D @3259dabe
# why: numpy: needed by requirements.txt:5 of PaddlePaddle/Paddle3D @3259dabe; its release: numpy/wheels
# why: nuscenes-devkit: needed by requirements.txt:6 of PaddlePaddle/Paddle3D @3259dabe; its release: nuscenes-devkit/releases
# why: opencv-python <=4.6.0.66: requirements.txt:7 of PaddlePaddle/Paddle3D @3259dabe
# why: opencv-python-headless <=4.6.0.66: requirements.txt:8 of PaddlePaddle/Paddle3D @3259dabe
# why: pandas: needed by requirements.txt:9 of PaddlePaddle/Paddle3D @3259dabe; its release: pandas/1.0.0
# why: pyyaml: needed by requirements.txt:13 of PaddlePaddle/Paddle3D @3259dabe; its release: pyyaml/wheels-6.0.3
# why: pillow: needed by requirements.txt:14 of PaddlePaddle/Paddle3D @3259dabe; its release: pillow/releases
# why: scikit-image: needed by requirements.txt:16 of PaddlePaddle/Paddle3D @3259dabe; its release: scikit-image/0.16.2
# why: scikit-learn: needed by requirements.txt:17 of PaddlePaddle/Paddle3D @3259dabe; its release: scikit-learn/0.22.1
# why: h5py: needed by requirements.txt:19 of PaddlePaddle/Paddle3D @3259dabe; its release: h5py/3.11.0
# why: scipy: needed by paddle3d/datasets/apollo/cluster.py:20 of PaddlePaddle/Paddle3D @3259dabe; its release: scipy/1.4.0
# why: matplotlib: needed by paddle3d/datasets/apollo/post_process.py:22 of PaddlePaddle/Paddle3D @3259dabe; its release: matplotlib/3.1.0
# why: packaging: needed by paddle3d/__init__.py:18 of PaddlePaddle/Paddle3D @3259dabe; its release: packaging/wheels
# why: setuptools: needed by setup.py:18 of PaddlePaddle/Paddle3D @3259dabe; its release: setuptools/49
# why: llvmlite 0.41.1: llvmlite/0.40
# why: colorlog: requirements.txt:1 of PaddlePaddle/Paddle3D @3259dabe
# why: easydict: requirements.txt:2 of PaddlePaddle/Paddle3D @3259dabe
# why: filelock: requirements.txt:3 of PaddlePaddle/Paddle3D @3259dabe
# why: paddledet: requirements.txt:10 of PaddlePaddle/Paddle3D @3259dabe
# why: paddleseg: requirements.txt:11 of PaddlePaddle/Paddle3D @3259dabe
# why: pyquaternion: requirements.txt:12 of PaddlePaddle/Paddle3D @3259dabe
# why: rarfile: requirements.txt:15 of PaddlePaddle/Paddle3D @3259dabe
# why: visualdl: requirements.txt:18 of PaddlePaddle/Paddle3D @3259dabe
# why: einops: requirements.txt:20 of PaddlePaddle/Paddle3D @3259dabe
# why: albumentations: requirements.txt:21 of PaddlePaddle/Paddle3D @3259dabe
# why: requests: paddle3d/utils/download.py:19 of PaddlePaddle/Paddle3D @3259dabe
# why: six: paddle3d/models/heads/dense_heads/anchor_mixins.py:21 of PaddlePaddle/Paddle3D @3259dabe
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

# --- the training code and what is compiled from it ------------------------------------------------
# why: PaddlePaddle/Paddle3D at the commit that the profile was read at, 3259dabe
COPY --from=code /code /workspace/petrv2
WORKDIR /workspace/petrv2

# paddle3d 1.0
# why: paddle3d ==1.0.0: paddle3d/__init__.py:15 of PaddlePaddle/Paddle3D @3259dabe
RUN --mount=type=secret,id=ca,target=/run/secrets/ca \
    --mount=type=secret,id=pip,target=/etc/pip.conf \
    --mount=type=cache,target=/root/.cache/pip \
    if [ -s /run/secrets/ca ]; then export PIP_CERT=/run/secrets/ca; fi \
    && python -m pip install --disable-pip-version-check \
        --no-cache-dir \
        --no-build-isolation \
        --constraint /tmp/stack/constraints.txt \
        --editable .

# --- the image ----------------------------------------------------------------------------------
FROM system
COPY --from=doctor /opt/envdoctor /opt/envdoctor
COPY --from=environment /opt/env /opt/env
ENV VIRTUAL_ENV=/opt/env \
    PATH=/opt/env/bin:${PATH}
# why: training as root writes files that nobody else can delete
ARG UID=1001
RUN useradd --create-home --shell /bin/bash --uid "${UID}" trainer
COPY --from=environment --chown=trainer /workspace/petrv2 /workspace/petrv2
WORKDIR /workspace/petrv2
LABEL org.opencontainers.image.title="petrv2"
LABEL org.opencontainers.image.source="https://github.com/PaddlePaddle/Paddle3D"
LABEL org.opencontainers.image.revision="3259dabef7d102fe548c1c1ced9152ad32f3e19b"
LABEL envdoctor.version="0.1.0"
LABEL envdoctor.matrices="2026-12-01"
LABEL envdoctor.architectures="8.0"
USER ${UID}
# why: what libraries hold is read once, so that the gate is quick
RUN XDG_CACHE_HOME=/home/trainer/.cache /opt/envdoctor/bin/envdoctor facts --python /opt/env/bin/python --output /home/trainer/facts.json
ENTRYPOINT ["/usr/bin/tini", "--"]
CMD ["bash"]

# constraints.txt
h5py==3.11.0
llvmlite==0.41.1
matplotlib==3.7.5
numba==0.58.1
numpy==1.24.4
nuscenes-devkit==1.1.9
opencv-python==4.6.0.66
opencv-python-headless==4.6.0.66
packaging==26.2
paddlepaddle-gpu==2.4.2.post112
pandas==2.0.3
pillow==8.3.2
pyyaml==6.0.3
scikit-image==0.21.0
scikit-learn==1.3.2
scipy==1.10.1
setuptools==75.3.4

# requirements-1.txt
--find-links https://www.paddlepaddle.org.cn/whl/linux/mkl/avx/stable.html

paddlepaddle-gpu===2.4.2.post112

# requirements-2.txt
numba==0.58.1
numpy==1.24.4
nuscenes-devkit==1.1.9
opencv-python==4.6.0.66
opencv-python-headless==4.6.0.66
pandas==2.0.3
pyyaml==6.0.3
pillow==8.3.2
scikit-image==0.21.0
scikit-learn==1.3.2
h5py==3.11.0
scipy==1.10.1
matplotlib==3.7.5
packaging==26.2
setuptools==75.3.4
llvmlite==0.41.1
colorlog
easydict
filelock
paddledet
paddleseg
pyquaternion
rarfile
visualdl
einops
albumentations
requests
six
paddlepaddle-gpu==2.4.2.post112

# requirements-3.txt
wheel
