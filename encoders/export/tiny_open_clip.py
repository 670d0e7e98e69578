"""Tiny open_clip checkpoints (EVA01, EVA02 and CLIP) with random weights. Needs open_clip;
the EVA trunks are timm's own class, registered here in a small size."""

import copy
import math
from pathlib import Path

from safetensors.torch import save_file
from timm.models import register_model
from timm.models.eva import Eva, _cfg

from probe_export.families.open_clip_model import build_model
from tiny_models import CARD, randomize, write_json

SHARED = dict(img_size=56, patch_size=14, embed_dim=32, num_heads=2)


def _make(defaults: dict, **kwargs):
    for name in ("pretrained_cfg", "pretrained_cfg_overlay", "cache_dir", "pretrained"):
        kwargs.pop(name, None)
    model = Eva(**SHARED, **defaults, **kwargs)
    model.default_cfg = model.pretrained_cfg = _cfg(input_size=(3, 56, 56), num_classes=0)
    return model


@register_model
def eva_probe_tiny01(pretrained=False, **kwargs):
    """As eva_giant_patch14_224: fused qkv without a key bias, plain MLP."""
    return _make(dict(depth=3, mlp_ratio=6144 / 1408), **kwargs)


@register_model
def eva02_probe_tiny(pretrained=False, **kwargs):
    """As eva02_large_patch14_clip_224: rotary positions, SwiGLU, inner norms."""
    return _make(dict(depth=3, mlp_ratio=4 * 2 / 3, qkv_fused=False, swiglu_mlp=True, scale_mlp=True,
                      scale_attn_inner=True, use_rot_pos_emb=True, ref_feat_shape=(3, 3)), **kwargs)


@register_model
def eva02_probe_tiny_e(pretrained=False, **kwargs):
    """As eva02_enormous_patch14_clip_224: norms after attention and MLP."""
    return _make(dict(depth=3, mlp_ratio=15360 / 1792, use_post_norm=True), **kwargs)


TEXT = {"context_length": 77, "vocab_size": 49408, "width": 8, "heads": 2, "layers": 2}


def eva_config(trunk: str) -> dict:
    return {"embed_dim": 16, "custom_text": True, "text_cfg": dict(TEXT),
            "vision_cfg": {"image_size": 56, "timm_model_name": trunk, "timm_model_pretrained": False,
                           "timm_pool": "token", "timm_proj": None}}


def clip_config(quick: bool, text_width: int = 8) -> dict:
    return {"embed_dim": 16, "quick_gelu": quick, "text_cfg": dict(TEXT, width=text_width),
            "vision_cfg": {"image_size": 56, "layers": 3, "width": 40, "head_width": 20, "patch_size": 14}}


def write(folder: Path, config: dict, seed: int, gain: float = 1.3) -> Path:
    model = build_model(copy.deepcopy(config))
    randomize(model, seed, gain)
    for p in model.parameters():  # values that float16 holds exactly: the golden files stay small
        p.data = p.data.half().float()
    model.logit_scale.data.fill_(math.log(100.0))
    save_file({k: v.contiguous().clone() for k, v in model.state_dict().items()},
              folder / "open_clip_model.safetensors")
    write_json(folder / "open_clip_config.json", {"model_cfg": config, "preprocess_cfg": {
        "mean": [0.48145466, 0.4578275, 0.40821073], "std": [0.26862954, 0.26130258, 0.27577711],
        "interpolation": "bicubic", "resize_mode": "shortest"}})
    (folder / "README.md").write_text(CARD)
    return folder


def eva01(folder: Path) -> Path:
    return write(folder, eva_config("eva_probe_tiny01"), 11)


def eva02(folder: Path) -> Path:
    return write(folder, eva_config("eva02_probe_tiny"), 12)


def eva02_e(folder: Path) -> Path:
    """With a smaller gain: each block adds a vector of norm 1 times the weights, and at
    1.3 bfloat16 alone, timm's own too, takes single tokens below a cosine of 0.999."""
    return write(folder, eva_config("eva02_probe_tiny_e"), 13, gain=0.9)


def clip(folder: Path, quick: bool = False, text_width: int = 8) -> Path:
    return write(folder, clip_config(quick, text_width), 14)
