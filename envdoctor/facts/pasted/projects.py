"""Names that people call projects by, and those of their distributions."""

from __future__ import annotations

from typing import Dict

_DISTRIBUTIONS = """
accelerate apex bitsandbytes causal-conv1d cumm cumm-cu111 cumm-cu113 cumm-cu117
cumm-cu118 cumm-cu120 cupy datasets deepspeed detectron2 diffusers einops evaluate
faiss-gpu flash-attn flashinfer-python flax fsspec fvcore huggingface-hub iopath jax
jaxlib kornia lightning llvmlite matplotlib mmaction2 mmcls mmcv mmcv-full mmcv-lite
mmdet mmdet3d mmengine mmpose mmpretrain mmsegmentation numba numpy nuscenes-devkit
onnx onnxruntime onnxruntime-gpu opencv-contrib-python opencv-python
opencv-python-headless optimum paddlepaddle paddlepaddle-gpu pandas peft pillow pip
protobuf pyarrow pycocotools pytorch-lightning pytorch3d safetensors scikit-image
scikit-learn scipy sentence-transformers sentencepiece setuptools shapely spconv
spconv-cu111 spconv-cu113 spconv-cu117 spconv-cu118 spconv-cu120 tensorboard
tensorflow tensorflow-gpu tensorrt timm tokenizers torch torchaudio torchtext
torchvision transformers triton trl ultralytics vllm wheel xformers
"""
#: {name in small letters with hyphens: distribution}
PROJECTS: Dict[str, str] = {
    **{name: name for name in _DISTRIBUTIONS.split()},
    "bnb": "bitsandbytes",
    "flash-attention": "flash-attn",
    "flash-attention-2": "flash-attn",
    "flashattention": "flash-attn",
    "hf-hub": "huggingface-hub",
    "mmdetection": "mmdet",
    "mmdetection3d": "mmdet3d",
    "mmseg": "mmsegmentation",
    "pytorch": "torch",
    "sklearn": "scikit-learn",
    "tf": "tensorflow",
    "torch-vision": "torchvision",
}
