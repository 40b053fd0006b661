# Locked by envdoctor 0.1.0, matrices of 2026-12-01
# Asked for: QCNet
# For: GPU A100 (compute capability 8.0), processor architecture x86_64, Python 3.8
# Not installed here, and needed: image ubuntu:24.04
# Holds if: NVIDIA driver is not known; torch, torchvision, torchaudio, torch-cluster, torch-scatter, torch-sparse asks for it [cuda/minor]
# Holds if: CUDA version that the driver serves is not known; torch, torchvision, torchaudio, torch-cluster, torch-scatter, torch-sparse asks for it [cuda/minor]
ARG BASE_IMAGE=ubuntu:24.04

# --- the system ---------------------------------------------------------------------------------
# why: image ubuntu:24.04: table/distribution
FROM ${BASE_IMAGE} AS system
ARG DEBIAN_FRONTEND=noninteractive
# hadolint ignore=DL3008  # the distribution's archive keeps the newest release of a package alone
RUN --mount=type=secret,id=ca,target=/run/secrets/ca \
    if [ -s /run/secrets/ca ]; then ca=/run/secrets/ca; fi \
    && apt-get ${ca:+-o "Acquire::https::CaInfo=$ca"} update \
    && apt-get ${ca:+-o "Acquire::https::CaInfo=$ca"} install --yes --no-install-recommends \
        ca-certificates \
        python3.12 \
        python3.12-venv \
        tini \
    && rm -rf /var/lib/apt/lists/*

# --- the training code --------------------------------------------------------------------------
FROM system AS code
# why: ZikangZhou/QCNet at the commit that the profile was read at, 55cacb41
# hadolint ignore=DL3008
RUN --mount=type=secret,id=ca,target=/run/secrets/ca \
    if [ -s /run/secrets/ca ]; then ca=/run/secrets/ca; export GIT_SSL_CAINFO="$ca"; fi \
    && apt-get ${ca:+-o "Acquire::https::CaInfo=$ca"} update \
    && apt-get ${ca:+-o "Acquire::https::CaInfo=$ca"} install --yes --no-install-recommends git \
    && git init --quiet /code \
    && git -C /code fetch --quiet --depth 1 https://github.com/ZikangZhou/QCNet 55cacb418cbbce3753119c1f157360e66993d0d0 \
    && git -C /code checkout --quiet FETCH_HEAD \
    && rm -rf /code/.git /var/lib/apt/lists/*

# --- the doctor, in a folder of its own ---------------------------------------------------------
FROM system AS doctor
COPY doctor /tmp/doctor
# why: it never lives in the environment that it examines
RUN --mount=type=secret,id=ca,target=/run/secrets/ca \
    --mount=type=secret,id=pip,target=/etc/pip.conf \
    if [ -s /run/secrets/ca ]; then export PIP_CERT=/run/secrets/ca; fi \
    && python3.12 -m venv /opt/envdoctor \
    && /opt/envdoctor/bin/python -m pip install --no-cache-dir --disable-pip-version-check /tmp/doctor/*.whl

# --- the environment ----------------------------------------------------------------------------
FROM system AS environment
# why: python ==3.8.*: environment.yml:169 of ZikangZhou/QCNet @55cacb41
# why: ubuntu:24.04 has Python 3.12
RUN --mount=type=secret,id=ca,target=/run/secrets/ca \
    --mount=type=secret,id=pip,target=/etc/pip.conf \
    if [ -s /run/secrets/ca ]; then export PIP_CERT=/run/secrets/ca SSL_CERT_FILE=/run/secrets/ca; fi \
    && python3.12 -m venv /tmp/uv \
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

# torch 2.0.1+cu118, torchvision 0.15.2+cu118, torchaudio 2.0.2+cu118
# why: torch ==2.0.1: environment.yml:176 of ZikangZhou/QCNet @55cacb41
# why: torchvision ==0.15.2: environment.yml:217 of ZikangZhou/QCNet @55cacb41
# why: torchaudio ==2.0.2: environment.yml:214 of ZikangZhou/QCNet @55cacb41
COPY requirements-1.txt /tmp/stack/
RUN --mount=type=secret,id=ca,target=/run/secrets/ca \
    --mount=type=secret,id=pip,target=/etc/pip.conf \
    --mount=type=cache,target=/root/.cache/pip \
    if [ -s /run/secrets/ca ]; then export PIP_CERT=/run/secrets/ca; fi \
    && python -m pip install --disable-pip-version-check \
        --no-deps \
        --requirement requirements-1.txt

# torch-cluster 1.6.1+pt20cu118, torch-scatter 2.1.1+pt20cu118, torch-sparse 0.6.17+pt20cu118
# why: torch-cluster ==1.6.1: environment.yml:177 of ZikangZhou/QCNet @55cacb41
# why: torch-scatter ==2.1.1: environment.yml:181 of ZikangZhou/QCNet @55cacb41
# why: torch-sparse ==0.6.17: environment.yml:182 of ZikangZhou/QCNet @55cacb41
COPY requirements-2.txt /tmp/stack/
RUN --mount=type=secret,id=ca,target=/run/secrets/ca \
    --mount=type=secret,id=pip,target=/etc/pip.conf \
    --mount=type=cache,target=/root/.cache/pip \
    if [ -s /run/secrets/ca ]; then export PIP_CERT=/run/secrets/ca; fi \
    && python -m pip install --disable-pip-version-check \
        --no-deps \
        --no-cache-dir \
        --requirement requirements-2.txt

# torch-geometric 2.3.0, pytorch-lightning 2.0.4, numpy 1.24.3, scipy 1.10.1, 7 more
# why: torch-geometric ==2.3.0: environment.yml:161 of ZikangZhou/QCNet @55cacb41
# why: pytorch-lightning ==2.0.4: environment.yml:179 of ZikangZhou/QCNet @55cacb41
# why: numpy ==1.24.3: environment.yml:137 of ZikangZhou/QCNet @55cacb41
# why: scipy ==1.10.1: environment.yml:196 of ZikangZhou/QCNet @55cacb41
# why: scikit-learn ==1.2.2: environment.yml:195 of ZikangZhou/QCNet @55cacb41
# why: setuptools ==67.8.0: environment.yml:198 of ZikangZhou/QCNet @55cacb41
# why: av2: needed by README.md:52 of ZikangZhou/QCNet @55cacb41; its release: av2/any
# why: pandas: needed by datasets/argoverse_v2_dataset.py:24 of ZikangZhou/QCNet @55cacb41; its release: pandas/1.0.0
# why: pyarrow: needed by datasets/argoverse_v2_dataset.py (read_parquet); its release: pyarrow/16.0.0
# why: torchmetrics==0.11.4: environment.yml:215 of ZikangZhou/QCNet @55cacb41
# why: tqdm==4.65.0: environment.yml:218 of ZikangZhou/QCNet @55cacb41
COPY requirements-3.txt /tmp/stack/
RUN --mount=type=secret,id=ca,target=/run/secrets/ca \
    --mount=type=secret,id=pip,target=/etc/pip.conf \
    --mount=type=cache,target=/root/.cache/pip \
    if [ -s /run/secrets/ca ]; then export PIP_CERT=/run/secrets/ca; fi \
    && python -m pip install --disable-pip-version-check \
        --constraint /tmp/stack/constraints.txt \
        --requirement requirements-3.txt

# --- the training code and what is compiled from it ------------------------------------------------
# why: ZikangZhou/QCNet at the commit that the profile was read at, 55cacb41
COPY --from=code /code /workspace/qcnet
WORKDIR /workspace/qcnet

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
COPY --from=environment --chown=trainer /workspace/qcnet /workspace/qcnet
WORKDIR /workspace/qcnet
LABEL org.opencontainers.image.title="qcnet"
LABEL org.opencontainers.image.source="https://github.com/ZikangZhou/QCNet"
LABEL org.opencontainers.image.revision="55cacb418cbbce3753119c1f157360e66993d0d0"
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
numpy==1.24.3
pandas==2.0.3
pyarrow==17.0.0
pytorch-lightning==2.0.4
scikit-learn==1.2.2
scipy==1.10.1
setuptools==67.8.0
torch==2.0.1+cu118
torch-cluster==1.6.1+pt20cu118
torch-geometric==2.3.0
torch-scatter==2.1.1+pt20cu118
torch-sparse==0.6.17+pt20cu118
torchaudio==2.0.2+cu118
torchvision==0.15.2+cu118

# requirements-1.txt
--index-url https://download.pytorch.org/whl/cu118

torch==2.0.1+cu118
torchvision==0.15.2+cu118
torchaudio==2.0.2+cu118

# requirements-2.txt
--find-links https://data.pyg.org/whl/torch-2.0.0+cu118.html
--only-binary torch-cluster
--only-binary torch-scatter
--only-binary torch-sparse

torch-cluster==1.6.1+pt20cu118
torch-scatter==2.1.1+pt20cu118
torch-sparse==0.6.17+pt20cu118

# requirements-3.txt
torch-geometric==2.3.0
pytorch-lightning==2.0.4
numpy==1.24.3
scipy==1.10.1
scikit-learn==1.2.2
setuptools==67.8.0
av2==0.2.1
pandas==2.0.3
pyarrow==17.0.0
torchmetrics==0.11.4
tqdm==4.65.0
torch==2.0.1+cu118
torchvision==0.15.2+cu118
torchaudio==2.0.2+cu118
torch-cluster==1.6.1+pt20cu118
torch-scatter==2.1.1+pt20cu118
torch-sparse==0.6.17+pt20cu118
