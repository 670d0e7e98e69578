"""References that share no code with the exporter: the libraries' public calls, and for
InternViT (whose own code is not run) the published arithmetic written out once more."""

import json

import torch
from safetensors.torch import load_file
from torch.nn import functional as F


def images(size: int, count: int) -> torch.Tensor:
    return torch.randn(count, 3, size, size, generator=torch.Generator().manual_seed(100 + count))


@torch.no_grad()
def clip(folder):
    from transformers import CLIPModel

    model = CLIPModel.from_pretrained(folder).eval()

    def image(x):
        out = model.vision_model(pixel_values=x, output_hidden_states=True)
        states = out.hidden_states
        features = model.visual_projection(out.pooler_output)
        return features, {"last": states[-1], "-1": states[-1], "-2": states[-2],
                          "post": model.vision_model.post_layernorm(states[-1])}

    def text(ids):
        return model.text_projection(model.text_model(input_ids=ids).pooler_output)

    return image, text


@torch.no_grad()
def siglip(folder):
    from transformers import SiglipModel

    model = SiglipModel.from_pretrained(folder).eval()

    def image(x):
        out = model.vision_model(pixel_values=x, output_hidden_states=True)
        return out.pooler_output, {"last": out.last_hidden_state, "-1": out.hidden_states[-1],
                                   "-2": out.hidden_states[-2]}

    return image, lambda ids: model.text_model(input_ids=ids).pooler_output


@torch.no_grad()
def llava(folder, kind):
    import transformers

    from tiny_models import vision_config

    config_class = transformers.CLIPVisionConfig if kind == "clip" else transformers.SiglipVisionConfig
    model_class = transformers.CLIPVisionModel if kind == "clip" else transformers.SiglipVisionModel
    tensors = {k.split("vision_model.")[-1]: v.float()
               for k, v in load_file(folder / "model-00002-of-00002.safetensors").items()}
    depth = 1 + max(int(k.split(".")[2]) for k in tensors if k.startswith("encoder.layers."))
    values = {k: v for k, v in vision_config(kind, depth).items() if k != "model_type"}
    model = model_class(config_class(**values, **({"vision_use_head": False} if kind == "siglip" else {}))).eval()
    getattr(model, "vision_model", model).load_state_dict(tensors)

    def image(x):
        states = model(pixel_values=x, output_hidden_states=True).hidden_states
        return None, {"last": states[-1], "-2": states[-2]}

    return image, None


@torch.no_grad()
def internvit(folder):
    config = json.loads((folder / "config.json").read_text())
    config = config.get("vision_config", config)
    t = {k.removeprefix("vision_model."): v for k, v in load_file(folder / "model.safetensors").items()}
    width, heads, eps = config["hidden_size"], config["num_attention_heads"], config["layer_norm_eps"]

    def rms(x, weight):
        return weight * x * (x.pow(2).mean(-1, keepdim=True) + eps).rsqrt()

    def norm(x, name):
        if config["norm_type"] == "rms_norm":
            return rms(x, t[name + ".weight"])
        return F.layer_norm(x, (width,), t[name + ".weight"], t[name + ".bias"], eps)

    def linear(x, name):
        return x @ t[name + ".weight"].T + t.get(name + ".bias", 0)

    def heads_of(x):
        return x.reshape(*x.shape[:2], heads, width // heads).transpose(1, 2)

    def image(x):
        x = F.conv2d(x, t["embeddings.patch_embedding.weight"], t["embeddings.patch_embedding.bias"], stride=14)
        x = x.flatten(2).transpose(1, 2)
        x = torch.cat([t["embeddings.class_embedding"].repeat(len(x), 1, 1), x], 1)
        x = x + t["embeddings.position_embedding"]
        states = []
        for i in range(config["num_hidden_layers"]):
            b = f"encoder.layers.{i}."
            q, k, v = linear(norm(x, b + "norm1"), b + "attn.qkv").split(width, -1)
            if config["qk_normalization"]:
                q, k = rms(q, t[b + "attn.q_norm.weight"]), rms(k, t[b + "attn.k_norm.weight"])
            q, k, v = heads_of(q), heads_of(k), heads_of(v)
            weights = (q @ k.transpose(-1, -2) / (width // heads) ** 0.5).softmax(-1)
            y = (weights @ v).transpose(1, 2).reshape(x.shape)
            x = x + t[b + "ls1"] * linear(y, b + "attn.proj")
            y = linear(F.gelu(linear(norm(x, b + "norm2"), b + "mlp.fc1")), b + "mlp.fc2")
            x = x + t[b + "ls2"] * y
            states.append(x)
        return None, {"last": states[-1], "-2": states[-2]}

    return image, None


@torch.no_grad()
def dinov2(folder):
    from transformers import Dinov2Model

    model = Dinov2Model.from_pretrained(folder).eval()

    def image(x):
        out = model(pixel_values=x, output_hidden_states=True)
        return out.pooler_output, {"last": out.hidden_states[-1], "-2": out.hidden_states[-2],
                                   "post": out.last_hidden_state}

    return image, None
