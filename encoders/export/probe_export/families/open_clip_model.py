"""CLIP and EVA-CLIP from open_clip checkpoints. open_clip is the reference and must be
installed; it is only imported here."""

import copy
from pathlib import Path

import numpy as np
import torch

from probe_export.blocks import BlockSpec, rotary_tables
from probe_export.checkpoint import load_pickle, read_json, sha256_of
from probe_export.errors import ExportError
from probe_export.families.hf_common import HookedBlocks, read_licence, require
from probe_export.picture import preprocess
from probe_export.plan import Plan, choose_layers, match_layer_of, size_letter
from probe_export.tokenizers import CLIP_MERGES, Tokenizer, check_merges, clip_spec, pack_merges
from probe_export.towers import ImageTowerSpec, TextTowerSpec

VISION_KEYS = {"image_size", "layers", "width", "head_width", "patch_size", "mlp_ratio", "timm_model_name",
               "timm_model_pretrained", "timm_pool", "timm_proj", "timm_drop", "timm_drop_path", "patch_dropout",
               "norm_kwargs", "act_kwargs"}
TEXT_KEYS = {"context_length", "vocab_size", "width", "heads", "layers", "mlp_ratio", "norm_kwargs", "act_kwargs"}


def import_open_clip():
    try:
        import open_clip
    except ImportError as error:
        raise ExportError("open_clip models need open_clip and torchvision, which are not installed "
                          f"({error}); see encoders/export/README.md, section open_clip") from error
    return open_clip


def plan_named(text: str, wanted: list[str] | None) -> Plan:
    """open_clip:ARCHITECTURE/TAG or open_clip:ARCHITECTURE/FILE."""
    architecture, _, rest = text.partition("/")
    if not rest:
        raise ExportError(f"open_clip:{text}: open_clip:ARCHITECTURE/TAG or open_clip:ARCHITECTURE/FILE is required")
    open_clip = import_open_clip()
    config = open_clip.get_model_config(architecture)
    if config is None:
        raise ExportError(f"open_clip:{text}: open_clip has no architecture {architecture!r}")
    path = Path(rest).expanduser()
    if path.suffix in (".pt", ".pth", ".bin", ".safetensors"):
        if not path.is_file():
            raise ExportError(f"{path}: no such checkpoint file")
        return make_plan(config, {}, path, f"{architecture}/{path.name}", None, wanted, (None, {}))
    stated = open_clip.pretrained.get_pretrained_cfg(architecture, rest)
    if not stated:
        tags = ", ".join(open_clip.pretrained.list_pretrained_tags_by_model(architecture)) or "none"
        raise ExportError(f"open_clip:{text}: open_clip knows these tags of {architecture}: {tags}")
    wants_quick = bool(stated.get("quick_gelu", False))
    if not config["vision_cfg"].get("timm_model_name") and wants_quick != bool(config.get("quick_gelu", False)):
        raise ExportError(f"open_clip:{text}: the weights were trained with {'quick' if wants_quick else 'exact'} GELU "
                          f"and {architecture} uses the other; take {architecture}"
                          f"{'-quickgelu' if wants_quick else ' without -quickgelu'}")
    try:
        path = Path(open_clip.pretrained.download_pretrained(stated))
    except Exception as error:
        hub = stated.get("hf_hub", "").rstrip("/")
        raise ExportError(
            f"open_clip:{text}: the weights are not in the cache and cannot be fetched; on a machine with internet run "
            f"`hf download {hub or architecture} --local-dir FOLDER`, bring FOLDER here and pass its path as MODEL: "
            f"`probe-export FOLDER -o BUNDLE` (or open_clip:{architecture}/FILE)") from error
    revision = path.parent.name if path.parent.parent.name == "snapshots" else None
    return make_plan(config, stated, path, f"open_clip {text}", revision, wanted, (None, {}))


def plan_folder(source, wanted: list[str] | None) -> Plan:
    """A folder with open_clip_config.json, as open_clip pushes it to the hub."""
    import_open_clip()
    values = read_json(source.find("open_clip_config.json"))
    where = f"{source.name}: open_clip_config.json"
    require(isinstance(values.get("model_cfg"), dict), where, "model_cfg", values.get("model_cfg"))
    for name in ("open_clip_model.safetensors", "model.safetensors", "open_clip_pytorch_model.bin"):
        path = source.find(name)
        if path is not None:
            return make_plan(values["model_cfg"], values.get("preprocess_cfg") or {}, path, source.checkpoint,
                             source.revision, wanted, read_licence(source))
    raise source.missing("open_clip_model.safetensors (or open_clip_pytorch_model.bin)")


def read_state(path: Path) -> dict:
    if path.suffix == ".safetensors":
        from safetensors.torch import load_file

        return load_file(path)
    return load_pickle(path)


def build_model(config: dict):
    open_clip = import_open_clip()
    config = copy.deepcopy(config)
    config["vision_cfg"]["timm_model_pretrained"] = False
    kind = open_clip.model.CustomTextCLIP if config.pop("custom_text", False) else open_clip.model.CLIP
    try:
        return kind(**config).eval().requires_grad_(False)
    except Exception as error:
        raise ExportError(f"open_clip cannot build this architecture: "
                          f"{(str(error).strip().splitlines() or ['?'])[0]}") from error


def load_model(config: dict, path: Path):
    """open_clip's own loading (it also converts old key names), from tensors that this
    package read, so that no pickle or TorchScript archive is ever run."""
    from open_clip import convert
    from open_clip.factory import convert_to_custom_text_state_dict

    model = build_model(config)
    state = {k: v for k, v in read_state(path).items() if k not in ("input_resolution", "context_length", "vocab_size")}
    state = convert.convert_state_dict(model, state)
    if "positional_embedding" in state and not hasattr(model, "positional_embedding"):
        state = convert_to_custom_text_state_dict(state)
    state["logit_scale"] = state["logit_scale"].reshape(model.logit_scale.shape)
    try:
        model.load_state_dict({k: v.float() for k, v in state.items() if torch.is_floating_point(v)}, strict=True)
    except RuntimeError as error:
        lines = str(error).strip().splitlines()
        raise ExportError(f"{path}: the tensors do not fit the architecture: {' '.join(x.strip() for x in lines[:2])[:300]}") from error
    return model


class OpenClipReference:
    def __init__(self, config: dict, path: Path, transform, layers, timm: bool):
        self.model = load_model(config, path)
        self.transform, self.layers, self.timm = transform, layers, timm
        visual = self.model.visual
        self.hooked = HookedBlocks(visual.trunk.blocks if timm else visual.transformer.resblocks)

    def pixels(self, image):
        for step in self.transform.transforms:
            if type(step).__name__ in ("ToTensor", "MaybeToTensor"):
                break
            image = step(image)
        return np.asarray(image, dtype=np.uint8)

    def encode_image(self, pixels):
        embedding, blocks = self.hooked.run(lambda: self.model.encode_image(pixels))
        with torch.no_grad():
            norm = self.model.visual.trunk.norm if self.timm else self.model.visual.ln_post
            normed = norm(blocks[-1])
        return embedding, [normed if x.post_norm else blocks[x.block] for x in self.layers]

    def encode_text(self, ids):
        with torch.no_grad():
            return self.model.encode_text(ids)


def resblock_weights(state: dict, theirs: str, ours: str) -> dict:
    w = {}
    for kind in ("weight", "bias"):
        w[f"{ours}.attention.qkv.{kind}"] = state[f"{theirs}.attn.in_proj_{kind}"]
        w[f"{ours}.attention.out.{kind}"] = state[f"{theirs}.attn.out_proj.{kind}"]
        w[f"{ours}.norm1.{kind}"] = state[f"{theirs}.ln_1.{kind}"]
        w[f"{ours}.norm2.{kind}"] = state[f"{theirs}.ln_2.{kind}"]
        w[f"{ours}.mlp.up.{kind}"] = state[f"{theirs}.mlp.c_fc.{kind}"]
        w[f"{ours}.mlp.down.{kind}"] = state[f"{theirs}.mlp.c_proj.{kind}"]
    return w


def clip_image_weights(state: dict, depth: int) -> dict:
    w = {
        "patch.weight": state["visual.conv1.weight"],
        "prefix": state["visual.class_embedding"].reshape(1, 1, -1),
        "position": state["visual.positional_embedding"][None],
        "projection.weight": state["visual.proj"].T.contiguous(),
    }
    for kind in ("weight", "bias"):
        w[f"pre_norm.{kind}"] = state[f"visual.ln_pre.{kind}"]
        w[f"post_norm.{kind}"] = state[f"visual.ln_post.{kind}"]
    for i in range(depth):
        w.update(resblock_weights(state, f"visual.transformer.resblocks.{i}", f"blocks.{i}"))
    return w


def text_weights(state: dict, depth: int) -> dict:
    prefix = "text." if "text.token_embedding.weight" in state else ""
    w = {
        "token.weight": state[f"{prefix}token_embedding.weight"],
        "position": state[f"{prefix}positional_embedding"][None],
        "projection.weight": state[f"{prefix}text_projection"].T.contiguous(),
    }
    for kind in ("weight", "bias"):
        w[f"final_norm.{kind}"] = state[f"{prefix}ln_final.{kind}"]
    for i in range(depth):
        w.update(resblock_weights(state, f"{prefix}transformer.resblocks.{i}", f"blocks.{i}"))
    return w


def eva_weights(trunk) -> dict:
    """From a live timm Eva trunk; its shape was checked by eva_spec."""
    s = trunk.state_dict()
    w = {"patch.weight": s["patch_embed.proj.weight"], "patch.bias": s["patch_embed.proj.bias"],
         "prefix": s["cls_token"], "position": s["pos_embed"]}
    for i, block in enumerate(trunk.blocks):
        theirs, ours = f"blocks.{i}", f"blocks.{i}"
        if block.attn.qkv is not None:
            w[f"{ours}.attention.qkv.weight"] = s[f"{theirs}.attn.qkv.weight"]
            q_bias, v_bias = s.get(f"{theirs}.attn.q_bias"), s.get(f"{theirs}.attn.v_bias")
        else:
            w[f"{ours}.attention.qkv.weight"] = torch.cat([s[f"{theirs}.attn.{x}_proj.weight"] for x in "qkv"])
            q_bias, v_bias = s.get(f"{theirs}.attn.q_proj.bias"), s.get(f"{theirs}.attn.v_proj.bias")
        if q_bias is not None:  # keys have no bias
            w[f"{ours}.attention.qkv.bias"] = torch.cat([q_bias, torch.zeros_like(q_bias), v_bias])
        renames = {"attn.proj": "attention.out", "norm1": "norm1", "norm2": "norm2", "mlp.fc1": "mlp.up",
                   "mlp.fc1_x": "mlp.up", "mlp.fc1_g": "mlp.gate", "mlp.fc2": "mlp.down", "attn.norm": "attention.norm",
                   "mlp.norm": "mlp.norm"}
        for old, new in renames.items():
            for kind in ("weight", "bias"):
                if f"{theirs}.{old}.{kind}" in s:
                    w[f"{ours}.{new}.{kind}"] = s[f"{theirs}.{old}.{kind}"]
        if getattr(block, "gamma_1", None) is not None:
            w[f"{ours}.scale1"], w[f"{ours}.scale2"] = s[f"{theirs}.gamma_1"], s[f"{theirs}.gamma_2"]
    for kind in ("weight", "bias"):
        w[f"post_norm.{kind}"] = s[f"norm.{kind}"]
        w[f"projection.{kind}"] = s[f"head.{kind}"]
    return w


def eva_block(trunk, where: str) -> BlockSpec:
    """The block's shape, read off the live module. Whatever this tower of ours could not
    reproduce is refused here or by the check after the export."""
    def kind(module) -> str:
        return type(module).__name__

    require(kind(trunk) == "Eva", where, "a timm Eva trunk", kind(trunk))
    first = trunk.blocks[0]
    attention, mlp = first.attn, first.mlp
    facts = {
        "class token": trunk.cls_token is not None and trunk.reg_token is None and not trunk.no_embed_class,
        "absolute positions": trunk.pos_embed is not None and not trunk.dynamic_img_size,
        "no norm before the blocks": kind(trunk.norm_pre) == "Identity",
        "token pooling": trunk.global_pool == "token" and trunk.attn_pool is None,
        "norm before pooling": kind(trunk.norm) != "Identity" and kind(trunk.fc_norm) == "Identity",
        "a linear head": kind(trunk.head) == "Linear",
        "known blocks": kind(first) in ("EvaBlock", "EvaBlockPostNorm"),
        "EvaAttention": kind(attention) == "EvaAttention",
        "an MLP of type Mlp or SwiGLU": kind(mlp) in ("Mlp", "SwiGLU"),
    }
    if all(facts.values()):
        facts |= {
            "plain attention": kind(attention.q_norm) == "Identity" and attention.gate is None
                               and not attention.rotate_half and attention.head_dim * attention.num_heads == trunk.embed_dim,
            "a GELU or SiLU": kind(mlp.act) == ("SiLU" if kind(mlp) == "SwiGLU" else "GELU")
                              and getattr(mlp.act, "approximate", "none") == "none",
        }
    for fact, holds in facts.items():
        require(holds, where, fact, "another kind of trunk")
    grid, reference = 0, 0
    if trunk.rope is not None:
        grid = trunk.patch_embed.grid_size[0]
        stated = getattr(trunk.rope, "ref_feat_shape", None)
        reference = stated[0] if stated else grid
        cos, sin = rotary_tables(grid, reference, attention.head_dim)
        theirs = trunk.rope.get_embed()
        require(theirs.shape == (grid * grid, 2 * attention.head_dim)
                and torch.allclose(torch.cat([sin[1:], cos[1:]], -1), theirs, atol=1e-5), where,
                "axial rotary positions as in EVA02", type(trunk.rope).__name__)
    return BlockSpec(
        trunk.embed_dim, attention.num_heads, mlp.fc2.in_features, first.norm1.eps, "gelu",
        qkv_bias=(attention.q_bias if attention.qkv is not None else attention.q_proj.bias) is not None,
        attention_norm=kind(attention.norm) != "Identity", gated=kind(mlp) == "SwiGLU",
        mlp_norm=kind(mlp.norm) != "Identity", layer_scale=getattr(first, "gamma_1", None) is not None,
        norm_after=kind(first) == "EvaBlockPostNorm", rotary_grid=grid, rotary_reference=reference)


def check_keys(values: dict, known: set[str], where: str) -> None:
    unknown = sorted(k for k, v in values.items() if k not in known and v not in (None, False))
    require(not unknown, where, "no other setting", unknown)


def clip_block(width: int, heads: int, mlp_ratio: float, norm: dict | None, quick: bool, acts: dict | None, where: str,
               causal: bool) -> BlockSpec:
    require(not acts, where, "no act_kwargs", acts)
    require(set(norm or {}) <= {"eps"}, where, "norm_kwargs with eps only", norm)
    return BlockSpec(width, heads, int(width * mlp_ratio), (norm or {}).get("eps", 1e-5),
                     "quick_gelu" if quick else "gelu", causal=causal)


def make_plan(config: dict, pre: dict, path: Path, checkpoint: str, revision, wanted, licences) -> Plan:
    open_clip = import_open_clip()
    where = f"{checkpoint}: open_clip model config"
    vision, text = config["vision_cfg"], config["text_cfg"]
    timm = bool(vision.get("timm_model_name"))
    if timm and not str(vision["timm_model_name"]).startswith("eva"):
        raise ExportError(f"{where}: of timm's trunks only EVA is supported, got {vision['timm_model_name']!r} "
                          "(SigLIP: export the Hugging Face checkpoint, e.g. google/siglip-so400m-patch14-384)")
    check_keys({k: v for k, v in config.items() if k not in ("embed_dim", "vision_cfg", "text_cfg", "quick_gelu",
                                                              "custom_text", "multimodal_cfg")}, set(), where)
    require(not config.get("multimodal_cfg"), where, "a CLIP model (no multimodal_cfg)", "multimodal_cfg")
    check_keys(vision, VISION_KEYS, where)
    check_keys(text, TEXT_KEYS, where)
    require(isinstance(vision.get("layers", 12), int), where, "a vision transformer", "a ResNet")
    quick, width = bool(config.get("quick_gelu", False)), config["embed_dim"]
    size = vision.get("image_size", 224)

    model = build_model(config)  # random weights; its shapes are what matters here
    parameters = sum(p.numel() for p in model.parameters())
    if timm:
        require(vision.get("timm_pool") == "token" and not vision.get("timm_proj"), where,
                "timm_pool token without timm_proj", (vision.get("timm_pool"), vision.get("timm_proj")))
        trunk = model.visual.trunk
        block, depth, patch = eva_block(trunk, where), len(trunk.blocks), trunk.patch_embed.patch_size[0]
        require(tuple(trunk.patch_embed.img_size) == (size, size), where, f"a trunk of size {size}",
                trunk.patch_embed.img_size)
    else:
        depth, patch = vision.get("layers", 12), vision.get("patch_size", 16)
        side = vision.get("width", 768)
        block = clip_block(side, side // vision.get("head_width", 64), vision.get("mlp_ratio", 4.0),
                           vision.get("norm_kwargs"), quick, vision.get("act_kwargs"), where, causal=False)
    del model
    layers = choose_layers(wanted, ["last", "-2", "post"], depth, has_norm=True, last_is_normed=False)
    image_spec = ImageTowerSpec(size, patch, depth, block, "linear", layers, width, patch_bias=timm,
                                pre_norm=not timm, projection_bias=timm)
    context, vocabulary = text.get("context_length", 77), text.get("vocab_size", 49408)
    text_block = clip_block(text.get("width", 512), text.get("heads", 8), text.get("mlp_ratio", 4.0),
                            text.get("norm_kwargs"), quick, text.get("act_kwargs"), where, causal=True)
    text_spec = TextTowerSpec(vocabulary, context, text.get("layers", 12), text_block, width, "largest", 49407)

    fields, transform = read_preprocess(open_clip, pre, size, where)
    state: dict = {}

    def load_state():
        if not state:
            model = load_model(config, path)
            state["all"], state["eva"] = model.state_dict(), eva_weights(model.visual.trunk) if timm else None
        return state

    def load_image():
        return load_state()["eva"] if timm else clip_image_weights(load_state()["all"], depth)

    def load_text():
        weights = text_weights(load_state()["all"], text_spec.depth)
        state.clear()
        return weights

    if timm:
        generation = "EVA02" if block.rotary_grid or block.norm_after else "EVA01"
        name = f"{generation}-CLIP ViT-{size_letter(block.width, depth)}/{patch}-{size}"
    else:
        name = f"CLIP ViT-{size_letter(block.width, depth)}/{patch}-{size}"
    return Plan(
        family="eva" if timm else "clip", architecture=name, checkpoint=checkpoint, revision=revision,
        preprocess=fields, image_spec=image_spec, image_weights=load_image, match_layer=match_layer_of(layers, "last"),
        reference=lambda: OpenClipReference(config, path, transform, layers, timm), parameters=parameters,
        weights_sha256=lambda: sha256_of(path), text_spec=text_spec, text_weights=load_text,
        tokenizer=open_clip_tokenizer(open_clip, context, vocabulary), scale_log=read_scale(path),
        licence=licences[0], licence_files=licences[1])


def read_scale(path: Path) -> float:
    if path.suffix == ".safetensors":
        from safetensors import safe_open

        with safe_open(path, framework="pt") as file:
            if "logit_scale" in file.keys():
                return float(file.get_tensor("logit_scale").float().reshape(()))
    else:
        state = load_pickle(path)
        if "logit_scale" in state:
            return float(state["logit_scale"].float().reshape(()))
    raise ExportError(f"{path}: tensor logit_scale is required and missing")


def read_preprocess(open_clip, pre: dict, size: int, where: str):
    from open_clip.transform import PreprocessCfg, image_transform_v2, merge_preprocess_dict

    values = merge_preprocess_dict(PreprocessCfg(size=size), pre)
    got = values["size"]
    got = got[0] if isinstance(got, (list, tuple)) and len(set(got)) == 1 else got
    require(got == size, where, f"a preprocessing size of {size}", values["size"])
    require(values["interpolation"] in ("bicubic", "bilinear"), where, "bicubic or bilinear", values["interpolation"])
    rule = {"shortest": "shortest", "squash": "squash"}.get(values["resize_mode"])
    require(rule is not None, where, "resize_mode shortest or squash", values["resize_mode"])
    fields = preprocess(size, rule, size, values["interpolation"], "center" if rule == "shortest" else "none",
                        "half_even", values["mean"], values["std"])
    return fields, image_transform_v2(PreprocessCfg(**values), is_train=False)


def open_clip_tokenizer(open_clip, context: int, vocabulary: int) -> Tokenizer:
    import gzip

    from open_clip.tokenizer import SimpleTokenizer, default_bpe

    with gzip.open(default_bpe(), "rt", encoding="utf-8") as file:
        merges = file.read().split("\n")[1 : CLIP_MERGES + 1]
    check_merges("open_clip's tokenizer", merges, None, vocabulary)
    reference = SimpleTokenizer(context_length=context)
    return Tokenizer(clip_spec(pad_id=0), pack_merges(merges), lambda texts: reference(texts).tolist())
