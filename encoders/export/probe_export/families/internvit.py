"""InternViT-300M and 6B, alone or inside an InternVL2 checkpoint. The checkpoint's own
code is never run; the reference is transformers' InternVLVisionModel."""

import numpy as np

from probe_export.blocks import BlockSpec
from probe_export.checkpoint import Checkpoint, Part
from probe_export.families.hf_common import (
    IMAGENET_MEAN,
    IMAGENET_STD,
    HookedBlocks,
    quiet_transformers,
    read_licence,
    require,
    square,
)
from probe_export.picture import squash
from probe_export.plan import Plan, choose_layers, match_layer_of
from probe_export.towers import ImageTowerSpec


def internvit_weights(take: Part, depth: int, block: BlockSpec) -> dict:
    w = {
        "patch.weight": take("embeddings.patch_embedding.weight"),
        "patch.bias": take("embeddings.patch_embedding.bias"),
        "prefix": take("embeddings.class_embedding"),
        "position": take("embeddings.position_embedding"),
    }
    kinds = ("weight", "bias")
    for i in range(depth):
        theirs, ours = f"encoder.layers.{i}", f"blocks.{i}"
        for kind in kinds:
            if kind == "weight" or block.qkv_bias:
                w[f"{ours}.attention.qkv.{kind}"] = take(f"{theirs}.attn.qkv.{kind}")
            w[f"{ours}.attention.out.{kind}"] = take(f"{theirs}.attn.proj.{kind}")
            w[f"{ours}.mlp.up.{kind}"] = take(f"{theirs}.mlp.fc1.{kind}")
            w[f"{ours}.mlp.down.{kind}"] = take(f"{theirs}.mlp.fc2.{kind}")
            if kind == "weight" or block.norm == "layer":
                w[f"{ours}.norm1.{kind}"] = take(f"{theirs}.norm1.{kind}")
                w[f"{ours}.norm2.{kind}"] = take(f"{theirs}.norm2.{kind}")
        if block.qk_norm:
            w[f"{ours}.attention.q_norm.weight"] = take(f"{theirs}.attn.q_norm.weight")
            w[f"{ours}.attention.k_norm.weight"] = take(f"{theirs}.attn.k_norm.weight")
        w[f"{ours}.scale1"] = take(f"{theirs}.ls1")
        w[f"{ours}.scale2"] = take(f"{theirs}.ls2")
    return w


def reference_names(tensors: dict) -> dict:
    """InternViT's names to those of transformers' port (q, k, v split)."""
    out = {}
    renames = (
        ("embeddings.class_embedding", "embeddings.cls_token"),
        ("embeddings.patch_embedding.", "embeddings.patch_embeddings.projection."),
        ("embeddings.position_embedding", "embeddings.position_embeddings"),
        ("encoder.layers.", "encoder.layer."),
        (".attn.proj.", ".attention.projection_layer."),
        (".attn.", ".attention."),
        (".norm1.", ".layernorm_before."),
        (".norm2.", ".layernorm_after."),
        (".ls1", ".lambda_1"),
        (".ls2", ".lambda_2"),
    )
    for name, tensor in tensors.items():
        for old, new in renames:
            name = name.replace(old, new)
        if ".attention.qkv." in name:
            for letter, third in zip("qkv", tensor.chunk(3)):
                out[name.replace(".qkv.", f".{letter}_proj.")] = third.clone()
        else:
            out[name] = tensor
    return out


class InternVitReference:
    def __init__(self, vision: dict, block: BlockSpec, depth: int, size: int, patch: int, tensors: dict, layers):
        quiet_transformers()
        from transformers.models.internvl import InternVLVisionConfig, InternVLVisionModel

        config = InternVLVisionConfig(
            hidden_size=block.width, num_hidden_layers=depth, num_attention_heads=block.heads,
            attention_bias=block.qkv_bias, use_qk_norm=block.qk_norm, intermediate_size=block.hidden,
            hidden_act=vision.get("hidden_act", "gelu"), norm_type=f"{block.norm}_norm", layer_norm_eps=block.eps,
            image_size=[size, size], patch_size=[patch, patch])
        config._attn_implementation = "sdpa"
        self.model = InternVLVisionModel(config).eval()
        self.model.load_state_dict(reference_names(tensors), strict=True)
        self.size, self.layers = size, layers
        self.hooked = HookedBlocks(self.model.encoder.layer)

    def pixels(self, image):
        # InternVL's build_transform: both sides to the tower's size, bicubic.
        return np.asarray(image.resize((self.size, self.size), 3), dtype=np.uint8)

    def encode_image(self, pixels):
        _, blocks = self.hooked.run(lambda: self.model(pixel_values=pixels))
        return blocks[-1][:, 0, :0], [blocks[x.block] for x in self.layers]


def plan(source, values: dict, wanted: list[str] | None) -> Plan:
    where = f"{source.name}: config.json"
    inside = values.get("model_type") == "internvl_chat"
    vision = values.get("vision_config") if inside else values
    require(isinstance(vision, dict) and vision.get("model_type", "intern_vit_6b") == "intern_vit_6b", where,
            "a vision_config of InternViT (model_type intern_vit_6b)",
            vision.get("model_type") if isinstance(vision, dict) else vision)
    needed = ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "image_size",
              "patch_size", "qkv_bias", "qk_normalization")
    for name in needed:
        require(name in vision, where, f"vision setting {name}", None)
    norm = {"layer_norm": "layer", "rms_norm": "rms"}.get(vision.get("norm_type", "rms_norm"))
    require(norm is not None, where, "norm_type layer_norm or rms_norm", vision.get("norm_type"))
    require(vision.get("hidden_act", "gelu") == "gelu", where, "hidden_act gelu", vision.get("hidden_act"))
    size, patch = square(vision["image_size"], where, "image_size"), square(vision["patch_size"], where, "patch_size")
    size = values.get("force_image_size") or size if inside else size
    select = values.get("select_layer", -1) if inside else -1
    require(isinstance(select, int) and select < 0, where, "a negative select_layer", select)

    checkpoint = Checkpoint(source)
    prefix = "vision_model." if inside else ""
    block = BlockSpec(vision["hidden_size"], vision["num_attention_heads"], vision["intermediate_size"],
                      vision.get("layer_norm_eps", 1e-6), "gelu", norm=norm, qkv_bias=vision["qkv_bias"],
                      qk_norm=vision["qk_normalization"], layer_scale=True)
    depth = vision["num_hidden_layers"]
    match = "last" if select == -1 else str(select)
    layers = choose_layers(wanted, [match, "-2" if match == "last" else "last"], depth, has_norm=False,
                           last_is_normed=False)
    spec = ImageTowerSpec(size, patch, depth, block, "none", layers, 0, patch_bias=True, post_norm=False)
    part = Part(checkpoint, prefix)
    shape = part.shape("embeddings.position_embedding")
    require(shape == (1, spec.tokens, block.width), source.name,
            f"a position embedding of {(1, spec.tokens, block.width)}", shape)

    def load():
        take = Part(checkpoint, prefix)
        weights = internvit_weights(take, depth, block)
        take.finish()
        return weights

    def reference():
        tensors = {n[len(prefix):]: checkpoint.tensor(n) for n in checkpoint.names() if n.startswith(prefix)}
        return InternVitReference(vision, block, depth, size, patch, tensors, layers)

    letter = {1024: "300M", 3200: "6B"}.get(block.width, f"{depth}x{block.width}")
    licence, licence_files = read_licence(source)
    return Plan(
        family="internvit", architecture=f"InternViT-{letter}/{patch}-{size} ({depth} blocks)",
        checkpoint=source.checkpoint, revision=source.revision,
        preprocess=squash(size, IMAGENET_MEAN, IMAGENET_STD), image_spec=spec, image_weights=load,
        match_layer=match_layer_of(layers, match), reference=reference, parameters=part.parameters(),
        tensors=checkpoint, weights_sha256=checkpoint.weights_sha256, licence=licence, licence_files=licence_files)
