"""CLIP and SigLIP (also SigLIP 2 of fixed resolution) from Hugging Face files, and the
towers of LLaVA-NeXT, which are tuned copies of both."""


import numpy as np
import torch
from PIL import Image

from probe_export.checkpoint import Checkpoint, Part
from probe_export.errors import ExportError
from probe_export.families.hf_common import (
    CLIP_MEAN,
    CLIP_STD,
    HookedBlocks,
    block_spec,
    block_weights,
    make_config,
    preprocess_from_processor,
    processor_pixels,
    quiet_transformers,
    read_licence,
    read_processor,
    require,
    square,
)
from probe_export.picture import squash
from probe_export.plan import Plan, choose_layers, match_layer_of, size_letter
from probe_export.tokenizers import read_hf_clip, read_siglip, read_siglip2
from probe_export.towers import ImageTowerSpec, TextTowerSpec

# Towers that LLaVA's own checkpoints name without saying what is in them. Shapes are
# checked against the tensors. Source: the config.json of the named models.
NAMED_TOWERS = {
    "openai/clip-vit-large-patch14-336": dict(
        model_type="clip_vision_model", hidden_size=1024, intermediate_size=4096, num_hidden_layers=24,
        num_attention_heads=16, image_size=336, patch_size=14, hidden_act="quick_gelu", layer_norm_eps=1e-5),
    "openai/clip-vit-large-patch14": dict(
        model_type="clip_vision_model", hidden_size=1024, intermediate_size=4096, num_hidden_layers=24,
        num_attention_heads=16, image_size=224, patch_size=14, hidden_act="quick_gelu", layer_norm_eps=1e-5),
    "google/siglip-so400m-patch14-384": dict(
        model_type="siglip_vision_model", hidden_size=1152, intermediate_size=4304, num_hidden_layers=27,
        num_attention_heads=16, image_size=384, patch_size=14, hidden_act="gelu_pytorch_tanh", layer_norm_eps=1e-6),
}
IGNORED = r".*position_ids"


def image_weights(take: Part, kind: str, depth: int, head: str) -> dict:
    w = {
        "patch.weight": take("embeddings.patch_embedding.weight"),
        "position": take("embeddings.position_embedding.weight")[None],
    }
    if kind == "clip":
        w["prefix"] = take("embeddings.class_embedding").reshape(1, 1, -1)
        for part in ("weight", "bias"):
            w[f"pre_norm.{part}"] = take(f"pre_layrnorm.{part}")
    else:
        w["patch.bias"] = take("embeddings.patch_embedding.bias")
    for i in range(depth):
        w.update(block_weights(take, f"encoder.layers.{i}", f"blocks.{i}"))
    for part in ("weight", "bias"):
        w[f"post_norm.{part}"] = take(f"post_layernorm.{part}")
    if head == "map":
        w["pool.probe"] = take("head.probe")
        for part in ("weight", "bias"):
            q, k, v = take(f"head.attention.in_proj_{part}").chunk(3)
            w[f"pool.q.{part}"] = q.clone()
            w[f"pool.kv.{part}"] = torch.cat([k, v])
            w[f"pool.out.{part}"] = take(f"head.attention.out_proj.{part}")
            w[f"pool.norm.{part}"] = take(f"head.layernorm.{part}")
            w[f"pool.mlp.up.{part}"] = take(f"head.mlp.fc1.{part}")
            w[f"pool.mlp.down.{part}"] = take(f"head.mlp.fc2.{part}")
    return w


def text_weights(take: Part, depth: int) -> dict:
    w = {
        "token.weight": take("embeddings.token_embedding.weight"),
        "position": take("embeddings.position_embedding.weight")[None],
    }
    for i in range(depth):
        w.update(block_weights(take, f"encoder.layers.{i}", f"blocks.{i}"))
    for part in ("weight", "bias"):
        w[f"final_norm.{part}"] = take(f"final_layer_norm.{part}")
    return w


def tower_name(kind: str, config, second: bool = False) -> str:
    name = "CLIP" if kind == "clip" else "SigLIP 2" if second else "SigLIP"
    letter = size_letter(config.hidden_size, config.num_hidden_layers)
    return f"{name} ViT-{letter}/{config.patch_size}-{config.image_size}"


class DualReference:
    """transformers' CLIPModel or SiglipModel with the checkpoint loaded by itself."""

    def __init__(self, folder, kind: str, pixels, layers):
        transformers = quiet_transformers()
        cls = transformers.CLIPModel if kind == "clip" else transformers.SiglipModel
        self.model = cls.from_pretrained(folder, dtype=torch.float32, attn_implementation="sdpa",
                                         local_files_only=True).eval()
        self.kind, self.pixels, self.layers = kind, pixels, layers
        vision = self.model.vision_model
        self.vision = getattr(vision, "vision_model", vision)
        self.hooked = HookedBlocks(self.vision.encoder.layers)

    def encode_image(self, pixels):
        out, blocks = self.hooked.run(lambda: self.vision(pixel_values=pixels))
        with torch.no_grad():
            embedding = out.pooler_output
            if self.kind == "clip":
                embedding = self.model.visual_projection(embedding)
            normed = self.vision.post_layernorm(blocks[-1])
        return embedding, [normed if x.post_norm else blocks[x.block] for x in self.layers]

    def encode_text(self, ids):
        with torch.no_grad():
            out = self.model.text_model(input_ids=ids).pooler_output
            return self.model.text_projection(out) if self.kind == "clip" else out


def plan_dual(source, values: dict, kind: str, wanted: list[str] | None) -> Plan:
    transformers = quiet_transformers()
    where = f"{source.name}: config.json"
    config = make_config(transformers.CLIPConfig if kind == "clip" else transformers.SiglipConfig, values, where)
    vision, text = config.vision_config, config.text_config
    size, patch = square(vision.image_size, where, "image_size"), square(vision.patch_size, where, "patch_size")
    depth = vision.num_hidden_layers
    head = "linear" if kind == "clip" else "map"
    if kind == "siglip":
        require(getattr(vision, "vision_use_head", True), where, "vision_use_head true", False)
    layers = choose_layers(wanted, ["last", "-2", "post"] if kind == "clip" else ["last", "-1", "-2"], depth,
                           has_norm=True, last_is_normed=kind == "siglip")
    embedding = config.projection_dim if kind == "clip" else vision.hidden_size
    image_spec = ImageTowerSpec(size, patch, depth, block_spec(vision, where), head, layers, embedding,
                                prefix=kind == "clip", patch_bias=kind == "siglip", pre_norm=kind == "clip")

    eos = text.eos_token_id
    pool = "last" if kind == "siglip" else "largest" if eos == 2 else "first_end"
    text_embedding = config.projection_dim if kind == "clip" else getattr(text, "projection_size", text.hidden_size)
    require(text_embedding == embedding, where, f"a text embedding of width {embedding}", text_embedding)
    context = text.max_position_embeddings

    if kind == "clip":
        tokenizer = read_hf_clip(source, context, text.vocab_size)
        processor_class = _processor("CLIPImageProcessorPil")
    else:
        second = source.find("spiece.model") is None and source.find("tokenizer.model") is not None
        tokenizer = (read_siglip2 if second else read_siglip)(source, context, text.vocab_size)
        processor_class = _processor("SiglipImageProcessorPil")
    if pool == "first_end":
        require(eos == tokenizer.spec["end_id"], where, f"text eos_token_id {tokenizer.spec['end_id']} (or the old 2)", eos)
    text_spec = TextTowerSpec(text.vocab_size, context, text.num_hidden_layers,
                              block_spec(text, where, causal=kind == "clip"), embedding, pool,
                              tokenizer.spec["end_id"], projection_bias=kind == "siglip")
    processor = read_processor(source)
    fields = preprocess_from_processor(source, processor, processor_class, size)

    checkpoint = Checkpoint(source)
    rest = {n for n in checkpoint.names() if not n.startswith(("vision_model.", "text_model."))}
    expected = {"logit_scale"} | ({"text_projection.weight", "visual_projection.weight"} if kind == "clip"
                                  else {"logit_bias"})
    require(rest == expected, source.name, f"tensors {', '.join(sorted(expected))} beside the towers",
            sorted(rest ^ expected))
    parameters = Part(checkpoint, "", IGNORED).parameters()

    def load_image():
        take = Part(checkpoint, "vision_model.", IGNORED)
        weights = image_weights(take, kind, depth, head)
        take.finish()
        if kind == "clip":
            weights["projection.weight"] = checkpoint.tensor("visual_projection.weight")
        return weights

    def load_text():
        take = Part(checkpoint, "text_model.", IGNORED)
        weights = text_weights(take, text.num_hidden_layers)
        if kind == "clip":
            weights["projection.weight"] = checkpoint.tensor("text_projection.weight")
        else:
            weights["projection.weight"], weights["projection.bias"] = take("head.weight"), take("head.bias")
        take.finish()
        return weights

    licence, licence_files = read_licence(source)
    folder = source.find("config.json").parent
    pixels = processor_pixels(processor_class, processor)
    second = kind == "siglip" and tokenizer.spec["canonicalize"] == "none"
    return Plan(
        family=kind, architecture=tower_name(kind, vision, second), checkpoint=source.checkpoint,
        revision=source.revision, preprocess=fields, image_spec=image_spec, image_weights=load_image,
        match_layer=match_layer_of(layers, "last"), reference=lambda: DualReference(folder, kind, pixels, layers),
        parameters=parameters, tensors=checkpoint, weights_sha256=checkpoint.weights_sha256, text_spec=text_spec, text_weights=load_text,
        tokenizer=tokenizer, scale_log=float(checkpoint.tensor("logit_scale").reshape(())),
        bias=float(checkpoint.tensor("logit_bias").reshape(())) if kind == "siglip" else None,
        probability="softmax" if kind == "clip" else "sigmoid", licence=licence, licence_files=licence_files)


def _processor(name: str):
    transformers = quiet_transformers()
    return getattr(transformers, name)


class TowerReference:
    """transformers' CLIPVisionModel or SiglipVisionModel, filled with the tuned tensors."""

    def __init__(self, config, kind: str, tensors: dict, pixels, layers):
        transformers = quiet_transformers()
        cls = transformers.CLIPVisionModel if kind == "clip" else transformers.SiglipVisionModel
        config._attn_implementation = "sdpa"
        model = cls(config).eval()
        self.vision = getattr(model, "vision_model", model)
        self.vision.load_state_dict(tensors, strict=True)
        self.pixels, self.layers = pixels, layers
        self.hooked = HookedBlocks(self.vision.encoder.layers)

    def encode_image(self, pixels):
        _, blocks = self.hooked.run(lambda: self.vision(pixel_values=pixels))
        with torch.no_grad():
            normed = self.vision.post_layernorm(blocks[-1])
        return blocks[-1][:, 0, :0], [normed if x.post_norm else blocks[x.block] for x in self.layers]


def plan_llava(source, values: dict, wanted: list[str] | None) -> Plan:
    """Only the tower's tensors are read; the language model's shards are not opened."""
    transformers = quiet_transformers()
    where = f"{source.name}: config.json"
    vision = values.get("vision_config")
    if isinstance(vision, dict) and vision.get("model_type") in ("clip_vision_model", "siglip_vision_model"):
        vision = dict(vision)
        chosen = values.get("vision_feature_layer", -2)
    else:
        name = values.get("mm_vision_tower")
        require(name in NAMED_TOWERS, where, f"mm_vision_tower of {', '.join(NAMED_TOWERS)}", name)
        vision = dict(NAMED_TOWERS[name])
        chosen = values.get("mm_vision_select_layer", -2)
    require(isinstance(chosen, int) and chosen < 0, where, "one negative vision_feature_layer", chosen)
    kind = "clip" if vision["model_type"] == "clip_vision_model" else "siglip"
    aspect = values.get("image_aspect_ratio", "anyres" if values.get("model_type") == "llava_next" else "square")
    require(str(aspect).startswith("anyres"), where, "image_aspect_ratio anyres (LLaVA-NeXT)", aspect)

    checkpoint = Checkpoint(source)
    mark = "embeddings.patch_embedding.weight"
    prefixes = [n[: -len(mark)] for n in checkpoint.names() if n.endswith(mark)]
    if len(prefixes) != 1:
        raise ExportError(f"{source.name}: one vision tower is required among the weights, got {len(prefixes)} "
                          "(was the tower left out because it was frozen? then export the base tower)")
    prefix = prefixes[0]
    blocks = {int(n[len(prefix):].split(".")[2]) for n in checkpoint.names()
              if n.startswith(prefix + "encoder.layers.")}
    depth = len(blocks)
    require(blocks == set(range(depth)), source.name, "vision blocks without gaps", sorted(blocks))
    cls = transformers.CLIPVisionConfig if kind == "clip" else transformers.SiglipVisionConfig
    # LLaVA's SigLIP encoder deletes the last block before training, and takes what is
    # then the last state, whatever the select layer says (LLaVA-NeXT siglip_encoder.py).
    if depth < vision["num_hidden_layers"]:
        require(kind == "siglip" and depth == vision["num_hidden_layers"] - 1, source.name,
                f"{vision['num_hidden_layers']} vision blocks", depth)
    match = "last" if kind == "siglip" and "mm_vision_tower" in values else "last" if chosen == -1 else str(chosen)
    vision["num_hidden_layers"] = depth
    if kind == "siglip":
        vision["vision_use_head"] = False
    config = make_config(cls, {k: v for k, v in vision.items() if k != "model_type"}, where)
    size, patch = square(config.image_size, where, "image_size"), square(config.patch_size, where, "patch_size")
    default = [match] + (["last"] if match != "last" else ["-2"])
    layers = choose_layers(wanted, default, depth, has_norm=True, last_is_normed=False)
    spec = ImageTowerSpec(size, patch, depth, block_spec(config, where), "none", layers, 0,
                          prefix=kind == "clip", patch_bias=kind == "siglip", pre_norm=kind == "clip",
                          post_norm=True)
    ignored = IGNORED + r"|head\..*"
    part = Part(checkpoint, prefix, ignored)
    require(part.shape("embeddings.position_embedding.weight") == (spec.tokens, config.hidden_size), source.name,
            f"a position embedding of {(spec.tokens, config.hidden_size)}",
            part.shape("embeddings.position_embedding.weight"))

    def load():
        take = Part(checkpoint, prefix, ignored)
        weights = image_weights(take, kind, depth, "none")
        take.finish()
        return weights

    def reference():
        tensors = {n[len(prefix):]: checkpoint.tensor(n) for n in checkpoint.names() if n.startswith(prefix)
                   and not n.endswith("position_ids") and not n.startswith(prefix + "head.")}
        return TowerReference(config, kind, tensors, lambda image: _base_view(image, size), layers)

    # The whole-image view of anyres is squashed to the tower's size before the processor
    # normalises it (LLaVA-NeXT mm_utils.py, process_anyres_image; HF LlavaNext processor).
    mean, std = (CLIP_MEAN, CLIP_STD) if kind == "clip" else ((0.5,) * 3, (0.5,) * 3)
    licence, licence_files = read_licence(source)
    return Plan(
        family=kind, architecture=f"{tower_name(kind, config)} as tuned in LLaVA-NeXT ({depth} blocks)",
        checkpoint=source.checkpoint, revision=source.revision, preprocess=squash(size, mean, std), image_spec=spec,
        image_weights=load, match_layer=match_layer_of(layers, match), reference=reference, parameters=part.parameters(),
        tensors=checkpoint, weights_sha256=checkpoint.weights_sha256, licence=licence, licence_files=licence_files)


def _base_view(image: Image.Image, size: int) -> np.ndarray:
    return np.asarray(image.resize((size, size)), dtype=np.uint8)  # Pillow's default for RGB: bicubic
