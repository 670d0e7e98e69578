"""DINOv2 from Hugging Face files (without registers)."""

import torch
from torch.nn import functional as F

from probe_export.blocks import BlockSpec
from probe_export.checkpoint import Checkpoint, Part
from probe_export.families.hf_common import (
    HookedBlocks,
    make_config,
    preprocess_from_processor,
    processor_pixels,
    quiet_transformers,
    read_licence,
    read_processor,
    require,
    square,
)
from probe_export.plan import Plan, activation, choose_layers, match_layer_of, size_letter
from probe_export.towers import ImageTowerSpec


def fitted_positions(position: torch.Tensor, grid: int) -> torch.Tensor:
    """The position embedding at another grid, as transformers and DINOv2 make it:
    bicubic, by output size, class position untouched."""
    side = round((position.shape[1] - 1) ** 0.5)
    if side == grid:
        return position
    patches = position[:, 1:].reshape(1, side, side, -1).permute(0, 3, 1, 2)
    patches = F.interpolate(patches, size=(grid, grid), mode="bicubic", align_corners=False)
    return torch.cat([position[:, :1], patches.permute(0, 2, 3, 1).flatten(1, 2)], 1)


def dinov2_weights(take: Part, depth: int, block: BlockSpec, grid: int) -> dict:
    w = {
        "patch.weight": take("embeddings.patch_embeddings.projection.weight"),
        "patch.bias": take("embeddings.patch_embeddings.projection.bias"),
        "prefix": take("embeddings.cls_token"),
        "position": fitted_positions(take("embeddings.position_embeddings"), grid),
    }
    for i in range(depth):
        theirs, ours = f"encoder.layer.{i}", f"blocks.{i}"
        for kind in ("weight", "bias"):
            if kind == "weight" or block.qkv_bias:
                w[f"{ours}.attention.qkv.{kind}"] = torch.cat(
                    [take(f"{theirs}.attention.attention.{x}.{kind}") for x in ("query", "key", "value")])
            w[f"{ours}.attention.out.{kind}"] = take(f"{theirs}.attention.output.dense.{kind}")
            w[f"{ours}.norm1.{kind}"] = take(f"{theirs}.norm1.{kind}")
            w[f"{ours}.norm2.{kind}"] = take(f"{theirs}.norm2.{kind}")
            if block.gated:
                gate, up = take(f"{theirs}.mlp.weights_in.{kind}").chunk(2)
                w[f"{ours}.mlp.gate.{kind}"], w[f"{ours}.mlp.up.{kind}"] = gate.clone(), up.clone()
                w[f"{ours}.mlp.down.{kind}"] = take(f"{theirs}.mlp.weights_out.{kind}")
            else:
                w[f"{ours}.mlp.up.{kind}"] = take(f"{theirs}.mlp.fc1.{kind}")
                w[f"{ours}.mlp.down.{kind}"] = take(f"{theirs}.mlp.fc2.{kind}")
        w[f"{ours}.scale1"] = take(f"{theirs}.layer_scale1.lambda1")
        w[f"{ours}.scale2"] = take(f"{theirs}.layer_scale2.lambda1")
    for kind in ("weight", "bias"):
        w[f"post_norm.{kind}"] = take(f"layernorm.{kind}")
    return w


class Dinov2Reference:
    def __init__(self, folder, pixels, layers):
        transformers = quiet_transformers()
        self.model = transformers.Dinov2Model.from_pretrained(folder, dtype=torch.float32, attn_implementation="sdpa",
                                                              local_files_only=True).eval()
        self.pixels, self.layers = pixels, layers
        self.hooked = HookedBlocks(self.model.encoder.layer)

    def encode_image(self, pixels):
        out, blocks = self.hooked.run(lambda: self.model(pixel_values=pixels))
        return out.pooler_output, [out.last_hidden_state if x.post_norm else blocks[x.block] for x in self.layers]


def plan(source, values: dict, wanted: list[str] | None) -> Plan:
    transformers = quiet_transformers()
    where = f"{source.name}: config.json"
    config = make_config(transformers.Dinov2Config, values, where)
    patch = square(config.patch_size, where, "patch_size")
    processor = read_processor(source)
    processor_class = transformers.BitImageProcessorPil
    fields = preprocess_from_processor(source, processor, processor_class, None)
    size, depth = fields["size"], config.num_hidden_layers
    require(size % patch == 0, where, f"a crop size divisible by the patch {patch}", size)
    hidden = int(config.hidden_size * config.mlp_ratio)
    if config.use_swiglu_ffn:
        hidden = (int(hidden * 2 / 3) + 7) // 8 * 8
    block = BlockSpec(config.hidden_size, config.num_attention_heads, hidden, config.layer_norm_eps,
                      activation(config.hidden_act, where), qkv_bias=config.qkv_bias, gated=config.use_swiglu_ffn,
                      layer_scale=True)
    layers = choose_layers(wanted, ["last", "post", "-2"], depth, has_norm=True, last_is_normed=False)
    spec = ImageTowerSpec(size, patch, depth, block, "cls", layers, config.hidden_size, patch_bias=True)
    checkpoint = Checkpoint(source)
    prefix = "dinov2." if any(n.startswith("dinov2.") for n in checkpoint.names()) else ""
    ignored = r"embeddings\.mask_token"
    part = Part(checkpoint, prefix, ignored)

    def load():
        take = Part(checkpoint, prefix, ignored)
        weights = dinov2_weights(take, depth, block, size // patch)
        take.finish()
        return weights

    licence, licence_files = read_licence(source)
    folder = source.find("config.json").parent
    pixels = processor_pixels(processor_class, processor)
    return Plan(
        family="dinov2", architecture=f"DINOv2 ViT-{size_letter(config.hidden_size, depth)}/{patch}-{size}",
        checkpoint=source.checkpoint, revision=source.revision, preprocess=fields, image_spec=spec,
        image_weights=load, match_layer=match_layer_of(layers, "last"),
        reference=lambda: Dinov2Reference(folder, pixels, layers), parameters=part.parameters(),
        tensors=checkpoint, weights_sha256=checkpoint.weights_sha256, licence=licence, licence_files=licence_files)
