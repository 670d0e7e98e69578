"""Every model that the README lists, at its published size, up to the point where weights
would be read: config, names and shapes of all tensors, processor and tokenizer. The weight
files are holes of the right length behind a true header; no tower is ever allocated."""

import json
import struct

import pytest
import torch
from safetensors.torch import load_file

import tiny_models
from probe_export.bundle import check_shapes, memory_line
from probe_export.families import make_plan


def write_hole(path, shapes):
    """A safetensors file of bfloat16 zeros that takes no room on the disk."""
    header, at = {}, 0
    for name, shape in sorted(shapes.items()):
        size = 2 * torch.Size(shape).numel()
        header[name] = {"dtype": "BF16", "shape": list(shape), "data_offsets": [at, at + size]}
        at += size
    raw = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(raw)) + raw)
        file.truncate(8 + len(raw) + at)


def shapes_of(build):
    with torch.device("meta"):
        model = build()
    return {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}


def clip(folder, width, depth, heads, size, patch, text, act="quick_gelu"):
    from transformers import CLIPConfig, CLIPModel

    text_width, text_depth, text_heads, projection = text
    config = CLIPConfig(
        projection_dim=projection,
        vision_config=dict(hidden_size=width, intermediate_size=4 * width, num_hidden_layers=depth,
                           num_attention_heads=heads, image_size=size, patch_size=patch, hidden_act=act,
                           projection_dim=projection),
        text_config=dict(hidden_size=text_width, intermediate_size=4 * text_width, num_hidden_layers=text_depth,
                         num_attention_heads=text_heads, hidden_act=act, projection_dim=projection, eos_token_id=2))
    write_hole(folder / "model.safetensors", shapes_of(lambda: CLIPModel(config)))
    config.save_pretrained(folder)
    tiny_models.write_clip_tokenizer(folder)
    tiny_models.write_json(folder / "preprocessor_config.json", tiny_models.clip_processor(size))


def siglip(folder, width, depth, heads, mlp, size, patch, second=False):
    from transformers import SiglipConfig, SiglipModel

    (tiny_models.siglip2 if second else tiny_models.siglip)(folder)
    tower = dict(hidden_size=width, intermediate_size=mlp, num_hidden_layers=depth, num_attention_heads=heads)
    config = SiglipConfig(vision_config=dict(tower, image_size=size, patch_size=patch),
                          text_config=dict(tower, vocab_size=256000 if second else 32000, projection_size=width))
    write_hole(folder / "model.safetensors", shapes_of(lambda: SiglipModel(config)))
    config.save_pretrained(folder)
    values = json.loads((folder / "preprocessor_config.json").read_text())
    values["size"] = {"height": size, "width": size}
    tiny_models.write_json(folder / "preprocessor_config.json", values)


def internvit(folder, width, depth, heads, mlp, six):
    tokens = (448 // 14) ** 2 + 1
    shapes = {"embeddings.class_embedding": (1, 1, width), "embeddings.position_embedding": (1, tokens, width),
              "embeddings.patch_embedding.weight": (width, 3, 14, 14), "embeddings.patch_embedding.bias": (width,)}
    for i in range(depth):
        b = f"encoder.layers.{i}."
        shapes |= {b + "attn.qkv.weight": (3 * width, width), b + "attn.proj.weight": (width, width),
                   b + "attn.proj.bias": (width,), b + "mlp.fc1.weight": (mlp, width), b + "mlp.fc1.bias": (mlp,),
                   b + "mlp.fc2.weight": (width, mlp), b + "mlp.fc2.bias": (width,), b + "ls1": (width,),
                   b + "ls2": (width,), b + "norm1.weight": (width,), b + "norm2.weight": (width,)}
        shapes |= ({b + "attn.q_norm.weight": (width,), b + "attn.k_norm.weight": (width,)} if six else
                   {b + "attn.qkv.bias": (3 * width,), b + "norm1.bias": (width,), b + "norm2.bias": (width,)})
    write_hole(folder / "model.safetensors", shapes)
    tiny_models.write_json(folder / "config.json", {
        "model_type": "intern_vit_6b", "hidden_size": width, "intermediate_size": mlp, "num_hidden_layers": depth,
        "num_attention_heads": heads, "image_size": 448, "patch_size": 14, "qkv_bias": not six,
        "qk_normalization": six, "norm_type": "rms_norm" if six else "layer_norm", "layer_norm_eps": 1e-6,
        "hidden_act": "gelu", "num_channels": 3})


def dinov2(folder, width, depth, heads, swiglu=False):
    from transformers import Dinov2Config, Dinov2Model

    config = Dinov2Config(hidden_size=width, num_hidden_layers=depth, num_attention_heads=heads, image_size=518,
                          patch_size=14, use_swiglu_ffn=swiglu)
    # transformers 5 keeps tensors under other names in memory than in files: which is
    # which, a tiny model of random values shows.
    tiny_models.dinov2(folder, swiglu=swiglu)
    saved = load_file(folder / "model.safetensors")
    names = {}
    for name, tensor in Dinov2Model.from_pretrained(folder).state_dict().items():
        names[name] = next((x for x, y in saved.items() if torch.equal(tensor, y)), name)

    def published(name):
        parts = name.split(".")
        if parts[:2] != ["encoder", "layer"]:
            return names[name]
        return names[".".join(["encoder.layer.0", *parts[3:]])].replace("layer.0.", f"layer.{parts[2]}.")

    shapes = {}
    for name, shape in shapes_of(lambda: Dinov2Model(config)).items():
        if ".gate_proj." in name:  # in files the two halves of SwiGLU's first layer are one tensor
            shapes[name.replace("gate_proj", "weights_in")] = (2 * shape[0], *shape[1:])
        elif ".up_proj." not in name:
            shapes[published(name)] = shape
    write_hole(folder / "model.safetensors", shapes)
    config.save_pretrained(folder)
    tiny_models.write_json(folder / "preprocessor_config.json", tiny_models.clip_processor(
        224, image_processor_type="BitImageProcessor", size={"shortest_edge": 256}))


B_TEXT, L_TEXT, H_TEXT = (512, 12, 8, 512), (768, 12, 12, 768), (1024, 24, 16, 1024)
MODELS = {  # builder, its arguments, architecture, millions of parameters
    "CLIP B/32": (clip, (768, 12, 12, 224, 32, B_TEXT), "CLIP ViT-B/32-224", 151.3),
    "CLIP B/16": (clip, (768, 12, 12, 224, 16, B_TEXT), "CLIP ViT-B/16-224", 149.6),
    "CLIP L/14": (clip, (1024, 24, 16, 224, 14, L_TEXT), "CLIP ViT-L/14-224", 427.6),
    "CLIP L/14-336": (clip, (1024, 24, 16, 336, 14, L_TEXT), "CLIP ViT-L/14-336", 427.9),
    "CLIP H/14": (clip, (1280, 32, 16, 224, 14, H_TEXT, "gelu"), "CLIP ViT-H/14-224", 986.1),
    "SigLIP B/16": (siglip, (768, 12, 12, 3072, 224, 16), "SigLIP ViT-B/16-224", 203.2),
    "SigLIP SO400M": (siglip, (1152, 27, 16, 4304, 384, 14), "SigLIP ViT-SO400M/14-384", 878.0),
    "SigLIP 2 B/16": (siglip, (768, 12, 12, 3072, 224, 16, True), "SigLIP 2 ViT-B/16-224", 375.2),
    "InternViT-300M": (internvit, (1024, 24, 16, 4096, False), None, 304.0),
    "InternViT-6B": (internvit, (3200, 45, 25, 12800, True), None, 5540.0),
    "DINOv2 B": (dinov2, (768, 12, 12), None, 86.6),
    "DINOv2 g": (dinov2, (1536, 40, 24, True), None, 1136.5),
}


@pytest.mark.parametrize("name", MODELS)
def test_listed_model_is_accepted_at_its_published_size(name, tmp_path):
    build, arguments, architecture, millions = MODELS[name]
    build(tmp_path, *arguments)
    plan = make_plan(str(tmp_path), None)
    check_shapes(plan)
    assert architecture in (None, plan.architecture)
    # Published counts (open_clip's model_profile.csv, InternVL's and DINOv2's cards).
    assert plan.parameters / 1e6 == pytest.approx(millions, rel=0.006)
    assert "GiB of memory and writes" in memory_line(plan, "float16")
