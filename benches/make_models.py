"""Encoders of the published shapes with random weights, for speed alone:

    python benches/make_models.py NAME FOLDER       NAME: b32, clip (L/14-336), siglip (SO400M-384), clip-h (H/14), eva-g

Writes FOLDER/bundle (as probe-export makes it), FOLDER/checkpoint (Hugging Face; for eva-g our own tower's weights) and
FOLDER/model.onnx. Needs encoders/export/requirements.txt and benches/requirements.txt.
"""

import math
import sys
from pathlib import Path

import torch

EXPORT = Path(__file__).resolve().parents[1] / "encoders/export"
sys.path[:0] = [str(EXPORT), str(EXPORT / "tests")]


def make_checkpoint(name: str, folder: Path) -> None:
    import full_size_parity

    if name != "b32":
        full_size_parity.make_checkpoint(name, folder)
        return
    import tiny_models
    from transformers import CLIPConfig, CLIPModel

    model = CLIPModel(CLIPConfig())  # the defaults are ViT-B/32
    tiny_models.randomize(model, 1, full_size_parity.GAIN)
    model.logit_scale.data.fill_(math.log(100.0))
    model.save_pretrained(folder)
    tiny_models.write_clip_tokenizer(folder)
    tiny_models.write_json(folder / "preprocessor_config.json", tiny_models.clip_processor(224))


class ImageTower(torch.nn.Module):
    """Pixels to (embedding, tokens of the last block), as the bundle's image.pt."""

    def __init__(self, folder: Path):
        super().__init__()
        from transformers import AutoModel

        self.model = AutoModel.from_pretrained(folder, attn_implementation="sdpa").eval()

    def forward(self, pixels):
        seen = self.model.vision_model(pixel_values=pixels)
        projection = getattr(self.model, "visual_projection", None)
        pooled = seen.pooler_output
        return (pooled if projection is None else projection(pooled)), seen.last_hidden_state


def eva_g(weights: Path):
    """EVA01-g/14 (PEERS.md, section 4) as the exporter builds it: its library, timm, needs an environment of 5 GB."""
    from probe_export.blocks import BlockSpec
    from probe_export.towers import ImageTowerSpec, Layer, build_tower, empty_tower

    block = BlockSpec(width=1408, heads=16, hidden=6144, eps=1e-6, activation="gelu")
    spec = ImageTowerSpec(224, 14, 40, block, "linear", (Layer("last", 39),), 1024, patch_bias=True,
                          projection_bias=True)
    if not weights.exists():
        generator = torch.Generator().manual_seed(3)
        state = {}
        for key, tensor in empty_tower(spec).state_dict().items():
            if tensor.dim() > 1:  # variance as after Glorot's initialization
                state[key] = torch.randn(tensor.shape, generator=generator) * (2 / sum(tensor.shape[:2])) ** 0.5
            else:
                state[key] = torch.full(tensor.shape, 1.0 if ".norm" in key and key.endswith("weight") else 0.02)
        torch.save(state, weights)
    return build_tower(spec, torch.load(weights))


class OwnTower:
    """probe_export.plan.Reference, for a tower that is its own."""

    def __init__(self, tower, fields):
        self.tower, self.fields = tower, fields

    def pixels(self, image):
        from probe_export.picture import fit

        return fit(image, self.fields)

    def encode_image(self, pixels):
        embedding, *tokens = self.tower(pixels)
        return embedding, tokens


def make_eva_plan(weights: Path):
    from probe_export.picture import preprocess
    from probe_export.plan import Plan

    tower = eva_g(weights)
    fields = preprocess(224, "shortest", 224, "bicubic", "center", "floor", [0.5] * 3, [0.5] * 3)
    return Plan(family="eva", architecture="EVA01-CLIP ViT-g/14-224", checkpoint="random weights", revision=None,
                preprocess=fields, image_spec=tower.spec, image_weights=lambda: dict(tower.state_dict()),
                match_layer="last", reference=lambda: OwnTower(tower, fields),
                parameters=sum(p.numel() for p in tower.parameters()), weights_sha256=lambda: None)


def load_peer(folder: Path) -> torch.nn.Module:
    """Pixels to (embedding, tokens) in PyTorch, for what compiles or exports it."""
    own = folder / "checkpoint/tower.pt"
    return eva_g(own) if own.exists() else ImageTower(folder / "checkpoint")


@torch.no_grad()
def main() -> None:
    name, folder = sys.argv[1], Path(sys.argv[2])
    checkpoint = folder / "checkpoint"
    checkpoint.mkdir(parents=True, exist_ok=True)
    from probe_export.bundle import write_bundle
    from probe_export.families import make_plan

    if name == "eva-g":
        plan = make_eva_plan(checkpoint / "tower.pt")
    else:
        make_checkpoint(name, checkpoint)
        plan = make_plan(str(checkpoint), ["last"])
    size = plan.image_spec.size
    write_bundle(plan, folder / "bundle", name=name, licence="random weights", source="benches/make_models.py",
                 say=lambda line: print(line, file=sys.stderr))
    torch.onnx.export(load_peer(folder), (torch.zeros(2, 3, size, size),), str(folder / "model.onnx"),
                      input_names=["pixels"], output_names=["image_embedding", "image_tokens"], dynamo=True,
                      dynamic_shapes=({0: torch.export.Dim("batch", min=1, max=64)},))


if __name__ == "__main__":
    main()
