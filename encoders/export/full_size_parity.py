"""Full-size towers with random weights: the paper's four encoders are instantiated from
their published configs, written as checkpoints, exported, and the TorchScript towers are
compared with the reference library in float32 and bfloat16. Exit 1 below issue 4's bars.

    python full_size_parity.py clip [siglip] [clip-h] [eva] [--probe PROGRAM] [--keep FOLDER]

With --probe the bundle goes through the built program instead: photos of demo/ and texts to
embeddings and tokens, `probe embed --tokens` against the library's own model, processor and
tokenizer. One model after the other; the README says what each costs.
`eva` needs open_clip.
"""

import argparse
import json
import math
import resource
import sys
import tempfile
import time
from pathlib import Path

import torch

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "tests")]

import program_parity
import tiny_models
from probe_export.bundle import memory_line, write_bundle
from probe_export.families import make_plan
from probe_export.towers import load_tower

# config.json of the named checkpoints (PEERS.md, section 4 lists the same shapes).
CLIP_CONFIGS = {
    "clip": dict(  # openai/clip-vit-large-patch14-336
        projection_dim=768,
        vision_config=dict(hidden_size=1024, intermediate_size=4096, num_hidden_layers=24, num_attention_heads=16,
                           image_size=336, patch_size=14, hidden_act="quick_gelu", projection_dim=768),
        text_config=dict(hidden_size=768, intermediate_size=3072, num_hidden_layers=12, num_attention_heads=12,
                         hidden_act="quick_gelu", projection_dim=768, eos_token_id=2)),
    "clip-h": dict(  # laion/CLIP-ViT-H-14-laion2B-s32B-b79K
        projection_dim=1024,
        vision_config=dict(hidden_size=1280, intermediate_size=5120, num_hidden_layers=32, num_attention_heads=16,
                           image_size=224, patch_size=14, hidden_act="gelu", projection_dim=1024),
        text_config=dict(hidden_size=1024, intermediate_size=4096, num_hidden_layers=24, num_attention_heads=16,
                         hidden_act="gelu", projection_dim=1024, eos_token_id=2)),
}
SO400M = dict(hidden_size=1152, intermediate_size=4304, num_hidden_layers=27, num_attention_heads=16)
# The residual branches of a random deep network amplify rounding; with this gain they
# stay near what trained weights do.
GAIN = 0.7


def make_checkpoint(name: str, folder: Path) -> None:
    if name in CLIP_CONFIGS:
        from transformers import CLIPConfig, CLIPModel

        model = CLIPModel(CLIPConfig(**CLIP_CONFIGS[name]))
        tiny_models.randomize(model, 1, GAIN)
        model.logit_scale.data.fill_(math.log(100.0))
        model.save_pretrained(folder)
        tiny_models.write_clip_tokenizer(folder)
        side = CLIP_CONFIGS[name]["vision_config"]["image_size"]
        tiny_models.write_json(folder / "preprocessor_config.json", tiny_models.clip_processor(side))
    elif name == "siglip":
        from transformers import SiglipConfig, SiglipModel

        tiny_models.siglip(folder)  # tokenizer and processor files; the weights are replaced
        model = SiglipModel(SiglipConfig(vision_config=dict(SO400M, image_size=384, patch_size=14),
                                         text_config=dict(SO400M, vocab_size=32000, projection_size=1152)))
        tiny_models.randomize(model, 2, GAIN)
        model.save_pretrained(folder)
        values = json.loads((folder / "preprocessor_config.json").read_text())
        values["size"] = {"height": 384, "width": 384}
        tiny_models.write_json(folder / "preprocessor_config.json", values)
    else:
        import open_clip
        import tiny_open_clip

        tiny_open_clip.write(folder, open_clip.get_model_config("EVA01-g-14"), 3, GAIN)


def compare(ours: torch.Tensor, theirs: torch.Tensor) -> dict:
    ours, theirs = ours.double().flatten(0, -2), theirs.double().flatten(0, -2)
    cosine = torch.nn.functional.cosine_similarity(ours, theirs, dim=-1).min()
    return {"cosine": float(cosine), "error": float(((ours - theirs).abs().amax(-1) / theirs.norm(dim=-1)).max())}


def library(name: str, source: Path, bundle: Path, ids) -> program_parity.Reference:
    """The library itself, by its public calls."""
    if name == "eva":
        return program_parity.open_clip_reference(source)
    import references

    model, processor = (references.siglip, "Siglip") if name == "siglip" else (references.clip, "CLIP")
    return program_parity.transformers_reference(source, bundle, model, processor, ids)


def odd_photos(count: int) -> list[Path]:
    """Photos of demo/ whose sides differ, spread over its classes."""
    from PIL import Image

    files = sorted((HERE.parents[1] / "demo/originals").rglob("*.jpg"))
    odd = [path for path in files if len(set(Image.open(path).size)) == 2]
    return odd[:: max(1, len(odd) // count)][:count]


@torch.no_grad()
def measure(name: str, work: Path, options: argparse.Namespace) -> dict:
    keep, images, dtypes = options.keep, options.images, options.dtypes
    source = work / "checkpoint"
    source.mkdir()
    make_checkpoint(name, source)
    plan = make_plan(str(source), options.layers)
    print(memory_line(plan, "float32"), flush=True)
    bundle = (keep or work) / name
    start = time.monotonic()
    write_bundle(plan, bundle, name=name, licence="random weights", source=f"random weights, full_size_parity.py {name}",
                 say=lambda line: print(f"  {line}", flush=True))
    result = {"name": name, "size": "full", "architecture": plan.architecture, "parameters": plan.parameters,
              "export_seconds": round(time.monotonic() - start, 1)}
    if options.probe:
        ids = plan.tokenizer.ids
        plan.tensors = None
        result |= program_parity.compare_with_program(
            options.probe, bundle, lambda: library(name, source, bundle, ids), odd_photos(images), work, dtypes,
            options.threads, options.tools, options.folders, with_ids=name == "eva",
            verify=False)
        result["peak_gib"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 1)
        result["program_peak_gib"] = round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20, 1)
        return result

    pixels = torch.randn(images, 3, plan.image_spec.size, plan.image_spec.size, generator=torch.Generator().manual_seed(0))
    ids = torch.tensor(plan.tokenizer.ids(["a photo of a red fox", "banana"]))
    reference = plan.reference()
    embedding, tokens = reference.encode_image(pixels)
    text = reference.encode_text(ids)
    wanted = {"image": embedding, **dict(zip(options.layers, tokens)), "text": text}
    del reference
    for dtype in (getattr(torch, name) for name in dtypes):
        tower = load_tower(str(bundle / "image.pt")).to(dtype)
        found = dict(zip(("image", *options.layers), tower(pixels.to(dtype))))
        tower = load_tower(str(bundle / "text.pt")).to(dtype)
        found["text"] = tower(ids)
        del tower
        result[str(dtype)[6:]] = {k: compare(found[k], wanted[k]) for k in wanted}
        print(f"  {str(dtype)[6:]}: {result[str(dtype)[6:]]}", flush=True)
    result["peak_gib"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 1)
    result["ok"] = program_parity.within_bars(result)
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", choices=["clip", "siglip", "clip-h", "eva"])
    parser.add_argument("--probe", type=Path, help="the built program; compares it rather than TorchScript in Python")
    parser.add_argument("--tools", type=Path, help="folder with dump_pixels and dump_ids: 200 photos and, for eva, "
                                                   "the texts of tests/parity as well")
    parser.add_argument("--folders", nargs="*", default=[], help="more photos and names, besides those of demo/")
    parser.add_argument("--keep", type=Path, help="folder for the bundles (default: they are deleted)")
    parser.add_argument("--work", type=Path, help="folder for temporary checkpoints (default: the system's)")
    parser.add_argument("--json", type=Path, help="append one line of JSON a model")
    parser.add_argument("--images", type=int, default=1,
                        help="pictures to compare (default: 1; bfloat16 is slow without AVX-512 or AMX)")
    parser.add_argument("--dtypes", nargs="+", choices=["float32", "bfloat16"], default=["float32", "bfloat16"])
    parser.add_argument("--layers", nargs="+", default=["last"],
                        help="token outputs, as last -2 (default: last; each is one more run of the program)")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch._C._jit_set_profiling_mode(False)
    good = True
    for name in options.models:
        with tempfile.TemporaryDirectory(dir=options.work) as work:
            result = measure(name, Path(work), options)
        good &= result["ok"]
        print(json.dumps(result, indent=1), flush=True)
        if options.json:
            with open(options.json, "a") as file:
                file.write(json.dumps(result) + "\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
