"""Encoders of the published shapes with random weights, for speed alone:

    python benches/make_models.py NAME FOLDER       NAME: b32, clip (L/14-336), siglip (SO400M-384), clip-h (H/14)

Writes FOLDER/bundle (as probe-export makes it), FOLDER/checkpoint (Hugging Face) and FOLDER/model.onnx. Needs
encoders/export/requirements.txt and benches/requirements.txt.
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


@torch.no_grad()
def main() -> None:
    name, folder = sys.argv[1], Path(sys.argv[2])
    checkpoint = folder / "checkpoint"
    checkpoint.mkdir(parents=True, exist_ok=True)
    make_checkpoint(name, checkpoint)
    from probe_export.families import make_plan
    from probe_export.bundle import write_bundle

    plan = make_plan(str(checkpoint), ["last"])
    size = plan.image_spec.size
    write_bundle(plan, folder / "bundle", name=name, licence="random weights", source="benches/make_models.py",
                 say=lambda line: print(line, file=sys.stderr))
    torch.onnx.export(ImageTower(checkpoint), (torch.zeros(2, 3, size, size),), str(folder / "model.onnx"),
                      input_names=["pixels"], output_names=["image_embedding", "image_tokens"], dynamo=True,
                      dynamic_shapes=({0: torch.export.Dim("batch", min=1, max=64)},))


if __name__ == "__main__":
    main()
