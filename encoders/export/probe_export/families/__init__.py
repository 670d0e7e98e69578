"""Finds the family of a source by its own config and makes the export plan."""

from probe_export.checkpoint import read_json
from probe_export.errors import ExportError
from probe_export.plan import Plan
from probe_export.sources import KNOWN, resolve


def make_plan(model: str, layers: list[str] | None) -> Plan:
    """Reads configs and the headers of the weights, no weights yet."""
    model = KNOWN.get(model, model)
    if model.startswith("open_clip:"):
        from probe_export.families import open_clip_model

        return open_clip_model.plan_named(model[len("open_clip:"):], layers)
    source = resolve(model)
    if source.find("config.json") is None:
        if source.find("open_clip_config.json") is not None:
            from probe_export.families import open_clip_model

            return open_clip_model.plan_folder(source, layers)
        raise source.missing("config.json")
    config = read_json(source.find("config.json"))
    kind = config.get("model_type")

    from probe_export.families import clip_siglip, dinov2, internvit

    if kind in ("clip", "siglip"):
        return clip_siglip.plan_dual(source, config, kind, layers)
    if kind in ("llava_next", "llava_llama", "llava_qwen", "llava_mistral", "llava"):
        return clip_siglip.plan_llava(source, config, layers)
    if kind in ("internvl_chat", "intern_vit_6b"):
        return internvit.plan(source, config, layers)
    if kind == "dinov2":
        return dinov2.plan(source, config, layers)
    if kind == "siglip2":
        raise ExportError(f"{source.name}: SigLIP 2 NaFlex (model_type siglip2) takes images of any shape and has no "
                          "fixed size; the fixed-resolution checkpoints (model_type siglip) are supported")
    raise ExportError(
        f"{source.name}: config.json has model_type {kind!r}; supported are clip, siglip, llava_next, llava_llama, "
        "llava_qwen, llava_mistral, internvl_chat, intern_vit_6b, dinov2 and open_clip's CLIP and EVA models"
    )
