"""Tiny checkpoints with the real architectures and random weights (fixed seeds), written
as the publishers write theirs. For tests and make_tiny_bundles.py; they know nothing."""

import gzip
import json
import math
import shutil
from pathlib import Path

import torch
from safetensors.torch import save_file

ROOT = Path(__file__).resolve().parents[2]
MERGES = (ROOT / "encoders/demo/bundle/merges.txt.gz", ROOT / "tests/data/bundles/clip/merges.txt.gz")
PIECES = ROOT / "tests/data/bundles/siglip"
CARD = "---\nlicense: cc0-1.0\n---\nRandom weights, made by encoders/export/tiny_models.py.\n"


def find_merges() -> list[str]:
    for path in MERGES:
        if path.is_file():
            lines = gzip.decompress(path.read_bytes()).decode().splitlines()
            return [line for line in lines if line and not line.startswith("#version")]
    raise FileNotFoundError(f"none of {', '.join(map(str, MERGES))}")


@torch.no_grad()
def randomize(model, seed: int, gain: float = 1.3) -> None:
    """Weights large enough that every part of the model shows in its output."""
    generator = torch.Generator().manual_seed(seed)

    def noise(tensor):
        return torch.randn(tensor.shape, generator=generator)

    for name, p in sorted(model.named_parameters()):
        if name.endswith(("logit_scale", "logit_bias")):
            continue
        if p.ndim >= 2 and not name.endswith(("position_embeddings", "pos_embed", "cls_token", "probe")):
            embedding = "embedding" in name and "patch" not in name
            p.copy_(noise(p) * (0.5 if embedding else gain / math.sqrt(p[0].numel())))
        elif name.endswith("weight") or "lambda" in name or "gamma" in name:
            p.copy_(1 + 0.2 * noise(p))
        else:
            p.copy_(0.3 * noise(p))


def write_json(path: Path, values: dict) -> None:
    path.write_text(json.dumps(values, indent=1) + "\n")


def clip_processor(side: int, **changes) -> dict:
    return {
        "crop_size": {"height": side, "width": side}, "do_center_crop": True, "do_convert_rgb": True,
        "do_normalize": True, "do_rescale": True, "do_resize": True, "image_processor_type": "CLIPImageProcessor",
        "image_mean": [0.48145466, 0.4578275, 0.40821073], "image_std": [0.26862954, 0.26130258, 0.27577711],
        "resample": 3, "rescale_factor": 1 / 255, "size": {"shortest_edge": side}, **changes}


def write_clip_tokenizer(folder: Path) -> None:
    from probe_export.tokenizers import clip_vocabulary

    merges = find_merges()
    (folder / "merges.txt").write_text("\n".join(["#version: 0.2", *merges]) + "\n")
    write_json(folder / "vocab.json", clip_vocabulary(merges))
    write_json(folder / "tokenizer_config.json", {"pad_token": "<|endoftext|>", "tokenizer_class": "CLIPTokenizer"})


def clip(folder: Path, act: str = "quick_gelu", width: int = 32, seed: int = 1, old_eos: bool = False) -> Path:
    """CLIP as openai/clip-vit-large-patch14-336 (quick GELU) or laion's H/14 (GELU) has it."""
    from transformers import CLIPConfig, CLIPModel

    config = CLIPConfig(
        vision_config=dict(hidden_size=width, intermediate_size=4 * width, num_hidden_layers=3, num_attention_heads=2,
                           image_size=56, patch_size=14, hidden_act=act, projection_dim=16),
        text_config=dict(hidden_size=8, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2,
                         hidden_act=act, projection_dim=16, eos_token_id=2 if old_eos else 49407),
        projection_dim=16)
    model = CLIPModel(config)
    randomize(model, seed)
    model.logit_scale.data.fill_(math.log(100.0))
    model.save_pretrained(folder)
    write_clip_tokenizer(folder)
    write_json(folder / "preprocessor_config.json", clip_processor(56))
    (folder / "README.md").write_text(CARD)
    return folder


def siglip_config(width: int = 36):
    from transformers import SiglipConfig

    return SiglipConfig(
        vision_config=dict(hidden_size=width, intermediate_size=134, num_hidden_layers=3, num_attention_heads=2,
                           image_size=52, patch_size=14),
        text_config=dict(hidden_size=width, intermediate_size=134, num_hidden_layers=2, num_attention_heads=2,
                         vocab_size=1000, projection_size=width))


def siglip(folder: Path, pieces: Path | None = None, seed: int = 3) -> Path:
    """SigLIP as google/siglip-so400m-patch14-384: like 384/14, 52/14 leaves a rest."""
    from transformers import SiglipModel

    model = SiglipModel(siglip_config())
    randomize(model, seed)
    model.logit_scale.data.fill_(math.log(112.33))
    model.logit_bias.data.fill_(-16.5)
    model.save_pretrained(folder)
    pieces = pieces or PIECES
    shutil.copyfile(pieces / "spiece.model", folder / "spiece.model")
    shutil.copyfile(pieces / "LICENSE", folder / "LICENSE")
    write_json(folder / "tokenizer_config.json", {"do_lower_case": True, "eos_token": "</s>", "pad_token": "</s>",
                                                  "unk_token": "<unk>", "tokenizer_class": "SiglipTokenizer"})
    write_json(folder / "preprocessor_config.json", {
        "do_normalize": True, "do_rescale": True, "do_resize": True, "image_mean": [0.5] * 3, "image_std": [0.5] * 3,
        "image_processor_type": "SiglipImageProcessor", "resample": 3, "rescale_factor": 1 / 255,
        "size": {"height": 52, "width": 52}})
    (folder / "README.md").write_text(CARD)
    return folder


def train_gemma_pieces(path: Path) -> None:
    """A small SentencePiece model with Gemma's settings and special ids."""
    import io

    import sentencepiece

    sentences = [f"a photo of a {c} {n} on the {p}" for c in ("red", "green", "blue", "yellow")
                 for n in ("fox", "apple", "banana", "pear", "tomato") for p in ("table", "tree", "two green plates")]
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences), model_writer=model, model_type="bpe", vocab_size=400, byte_fallback=True,
        add_dummy_prefix=False, remove_extra_whitespaces=False, normalization_rule_name="identity", pad_id=0, eos_id=1,
        bos_id=2, unk_id=3, pad_piece="<pad>", eos_piece="<eos>", bos_piece="<bos>", unk_piece="<unk>",
        minloglevel=2)
    path.write_bytes(model.getvalue())


def siglip2(folder: Path) -> Path:
    """SigLIP 2 of fixed resolution: SigLIP's towers with Gemma's tokenizer."""
    siglip(folder, seed=4)
    (folder / "spiece.model").unlink()
    train_gemma_pieces(folder / "tokenizer.model")
    write_json(folder / "tokenizer_config.json", {"tokenizer_class": "GemmaTokenizer"})
    return folder


def vision_config(kind: str, depth: int) -> dict:
    if kind == "clip":
        return dict(model_type="clip_vision_model", hidden_size=32, intermediate_size=128, num_hidden_layers=depth,
                    num_attention_heads=2, image_size=56, patch_size=14, hidden_act="quick_gelu", layer_norm_eps=1e-5)
    return dict(model_type="siglip_vision_model", hidden_size=36, intermediate_size=134, num_hidden_layers=depth,
                num_attention_heads=2, image_size=52, patch_size=14, hidden_act="gelu_pytorch_tanh",
                layer_norm_eps=1e-6)


def llava(folder: Path, kind: str = "clip", style: str = "hf", depth: int = 4, seed: int = 5) -> Path:
    """A LLaVA-NeXT checkpoint in shards: only one of them holds tower tensors. Style `hf`
    is llava-hf's layout, `original` that of the authors (tower named, not described)."""
    import transformers

    config_class = transformers.CLIPVisionConfig if kind == "clip" else transformers.SiglipVisionConfig
    model_class = transformers.CLIPVisionModel if kind == "clip" else transformers.SiglipVisionModel
    values = {k: v for k, v in vision_config(kind, depth).items() if k != "model_type"}
    if kind == "siglip":
        values["vision_use_head"] = False
    model = model_class(config_class(**values))
    randomize(model, seed)
    inner = getattr(model, "vision_model", model).state_dict()
    prefix = {"hf": "vision_tower.vision_model.", "original": "model.vision_tower.vision_tower.vision_model."}[style]
    tower = {prefix + k: v.half() for k, v in inner.items()}
    language = {"model.embed_tokens.weight": torch.zeros(100, 16), "lm_head.weight": torch.zeros(100, 16)}
    save_file(language, folder / "model-00001-of-00002.safetensors")
    save_file(tower, folder / "model-00002-of-00002.safetensors")
    index = dict.fromkeys(language, "model-00001-of-00002.safetensors")
    index |= dict.fromkeys(tower, "model-00002-of-00002.safetensors")
    write_json(folder / "model.safetensors.index.json", {"metadata": {}, "weight_map": index})
    if style == "hf":
        write_json(folder / "config.json", {"model_type": "llava_next", "vision_config": vision_config(kind, depth),
                                            "vision_feature_layer": -2})
    else:
        write_json(folder / "config.json", {
            "model_type": "llava_llama", "mm_vision_select_layer": -2, "image_aspect_ratio": "anyres",
            "mm_vision_tower": "google/siglip-so400m-patch14-384" if kind == "siglip"
            else "openai/clip-vit-large-patch14-336"})
    (folder / "README.md").write_text(CARD)
    return folder


def internvit(folder: Path, six: bool = False, inside: bool = True, seed: int = 6) -> Path:
    """InternViT as in InternVL2 (inside) or alone; `six` has the 6B's norms."""
    width, heads, depth = (48, 3, 4) if six else (32, 2, 3)
    generator = torch.Generator().manual_seed(seed)

    def random(*shape, scale=None):
        value = torch.randn(*shape, generator=generator)
        return value * (scale if scale is not None else 1.3 / math.sqrt(math.prod(shape[1:])))

    t = {
        "embeddings.class_embedding": random(1, 1, width, scale=0.5),
        "embeddings.position_embedding": random(1, 17, width, scale=0.5),
        "embeddings.patch_embedding.weight": random(width, 3, 14, 14),
        "embeddings.patch_embedding.bias": random(width, scale=0.3),
    }
    for i in range(depth):
        b = f"encoder.layers.{i}."
        t[b + "attn.qkv.weight"] = random(3 * width, width)
        t[b + "attn.proj.weight"], t[b + "attn.proj.bias"] = random(width, width), random(width, scale=0.3)
        t[b + "mlp.fc1.weight"], t[b + "mlp.fc1.bias"] = random(4 * width, width), random(4 * width, scale=0.3)
        t[b + "mlp.fc2.weight"], t[b + "mlp.fc2.bias"] = random(width, 4 * width), random(width, scale=0.3)
        for name in ("norm1.weight", "norm2.weight", "ls1", "ls2"):
            t[b + name] = 1 + random(width, scale=0.2)
        if six:
            t[b + "attn.q_norm.weight"] = 1 + random(width, scale=0.2)
            t[b + "attn.k_norm.weight"] = 1 + random(width, scale=0.2)
        else:
            t[b + "attn.qkv.bias"] = random(3 * width, scale=0.3)
            t[b + "norm1.bias"], t[b + "norm2.bias"] = random(width, scale=0.3), random(width, scale=0.3)
    vision = {
        "model_type": "intern_vit_6b", "hidden_size": width, "intermediate_size": 4 * width, "num_hidden_layers": depth,
        "num_attention_heads": heads, "image_size": 56, "patch_size": 14, "qkv_bias": not six,
        "qk_normalization": six, "norm_type": "rms_norm" if six else "layer_norm", "layer_norm_eps": 1e-6,
        "hidden_act": "gelu", "num_channels": 3}
    if inside:
        tower = {f"vision_model.{k}": v for k, v in t.items()}
        rest = {"mlp1.0.weight": torch.zeros(4 * width), "language_model.model.norm.weight": torch.zeros(8)}
        save_file(tower | rest, folder / "model.safetensors")
        write_json(folder / "config.json", {"model_type": "internvl_chat", "select_layer": -1, "force_image_size": 56,
                                            "vision_config": vision})
    else:
        save_file(t, folder / "model.safetensors")
        write_json(folder / "config.json", vision)
    (folder / "README.md").write_text(CARD)
    return folder


def dinov2(folder: Path, swiglu: bool = False, seed: int = 7) -> Path:
    """DINOv2: positions of a 5 x 5 grid, used at 4 x 4 as the real ones (37 to 16) are."""
    from transformers import Dinov2Config, Dinov2Model

    config = Dinov2Config(hidden_size=32, num_hidden_layers=3, num_attention_heads=2, image_size=70, patch_size=14,
                          use_swiglu_ffn=swiglu)
    model = Dinov2Model(config)
    randomize(model, seed)
    model.save_pretrained(folder)
    write_json(folder / "preprocessor_config.json", clip_processor(
        56, image_processor_type="BitImageProcessor", size={"shortest_edge": 64},
        image_mean=[0.485, 0.456, 0.406], image_std=[0.229, 0.224, 0.225]))
    (folder / "README.md").write_text(CARD)
    return folder
