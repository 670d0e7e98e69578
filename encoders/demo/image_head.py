"""The image head: mean trunk feature [n, 1280] -> point in the space of the text vectors [n, 512].

Trained on photos of the grocery train split and on pseudo-features: guesses of what the
trunk answers for the other ImageNet classes, made from its classifier's rows. Those give the
head an idea of names that have no photo here.
"""

import torch
from torch import nn
from torch.nn import functional as F

from imagenet_map import class_names
from parts import WIDTH, load_trunk, rectified_mean

SPREAD = 0.3  # typical deviation of a mean feature from its expectation
SCALE = 25.0  # of the cosines inside the softmax; also the bundle's logit scale
SMOOTHING = 0.05
GAP = 12.0  # how far a pseudo-feature moves its class's logit
STEPS = 400
PHOTOS, PSEUDO = 192, 64  # of each batch
START_PSEUDO = 12000
BALANCE = 0.5  # a class of n photos is drawn in proportion to n ** (1 - BALANCE)
RIDGE = 1e4
RATE = 1e-3
DECAY = 0.05
SEED = 11


class PseudoFeatures:
    """Draws (features [n, 1280], concepts [n]) for the ImageNet classes that have a name."""

    def __init__(self, concepts, weight, mean):
        names = class_names(concepts.index)
        pairs = [(c, concepts.index[name]) for c, known in enumerate(names) for name in known]
        self.classes, self.concepts = (torch.tensor(column) for column in zip(*pairs))
        centred = weight - weight.mean(0)
        self.rows = centred / centred.square().sum(1, keepdim=True)
        self.mean = mean

    def draw(self, n, generator):
        pick = torch.randint(len(self.classes), (n,), generator=generator)
        ground = self.mean * torch.empty(n, WIDTH).exponential_(generator=generator)
        push = GAP * (0.5 + torch.rand(n, 1, generator=generator))
        return F.relu(ground + push * self.rows[self.classes[pick]]), self.concepts[pick]


def start_weight(features, labels, weights, made, made_labels, vectors):
    """Ridge regression from features to text vectors, [512, 1280]: a good place to start from."""
    weighted = torch.cat([features * (weights * len(made) / weights.sum())[:, None], made])
    gram = weighted.T @ torch.cat([features, made])
    gram.diagonal().add_(RIDGE)
    return torch.linalg.solve(gram, weighted.T @ vectors[torch.cat([labels, made_labels])]).T.contiguous()


def train_head(concepts, vectors, features, names, log=print):
    """Linear layer on raw mean features; the shift by mu and the spread are folded into it.

    vectors [concepts, 512]: what the text tower answers for each concept (not its ideal
    target, so that both towers agree); features [photos, views, 1280]; names [photos].
    """
    trunk, weight, _ = load_trunk()
    mean = rectified_mean(trunk.last_norm)
    pseudo = PseudoFeatures(concepts, weight, mean)
    generator = torch.Generator().manual_seed(SEED)
    labels = torch.tensor([concepts.index[name] for name in names]).repeat_interleave(features.shape[1])
    features = (features.flatten(0, 1) - mean) / SPREAD
    chance = torch.bincount(labels)[labels].float() ** -BALANCE
    made, made_labels = pseudo.draw(START_PSEUDO, generator)

    head = nn.Linear(WIDTH, vectors.shape[1])
    head.weight.data = start_weight(features, labels, chance, (made - mean) / SPREAD, made_labels, vectors)
    head.bias.data.zero_()
    optimiser = torch.optim.AdamW(head.parameters(), RATE, weight_decay=DECAY)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, STEPS)
    for step in range(STEPS):
        pick = torch.multinomial(chance, PHOTOS, True, generator=generator)
        made, made_labels = pseudo.draw(PSEUDO, generator)
        points = head(torch.cat([features[pick], (made - mean) / SPREAD]))
        logits = SCALE * F.normalize(points, dim=1) @ vectors.T
        wanted = torch.cat([labels[pick], made_labels])
        loss = F.cross_entropy(logits, wanted, label_smoothing=SMOOTHING)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        if step % 100 == 0 or step + 1 == STEPS:
            log(f"image head step {step} loss {loss.item():.3f}")
    with torch.no_grad():
        folded = nn.Linear(WIDTH, vectors.shape[1])
        folded.weight.copy_(head.weight / SPREAD)
        folded.bias.copy_(head.bias - folded.weight @ mean)
    return folded
