"""The text tower: a gated bag of CLIP's word pieces, distilled from the text targets.

It is a lookup table, not a language model: it knows the names it was trained on and ignores
the order of words. Pieces outside its list fall into hash buckets and mean nothing.
"""

import torch
from torch import nn
from torch.nn import functional as F

from bpe import END, START, Bpe

IDS = 49408  # CLIP's vocabulary with start and end
BUCKETS = 128
WIDTH = 128
HIDDEN = 384
DROP = 0.04  # share of pieces thrown into a bucket in training
STEPS = 3500
BATCH = 512
RATE = 3e-3
SCALE = 25.0
SEED = 13

PROMPTS = (
    "{}",
    "a {}",
    "a photo of a {}.",
    "a photo of an {}.",
    "a picture of a {}.",
    "an image of the {}",
    "this is a photo of {}.",
)


class TextTower(nn.Module):
    """ids int64 [n, 77] -> [n, d]. Position and order of the pieces do not matter."""

    def __init__(self, kept, outputs):
        super().__init__()
        # Row of each id: its own if kept, else one of the shared buckets behind them.
        row = len(kept) + torch.arange(IDS) * 2654435761 % 2**32 % BUCKETS
        row[torch.tensor(kept)] = torch.arange(len(kept))
        self.register_buffer("row", row.to(torch.int16))
        self.kept = len(kept)
        self.embedding = nn.Embedding(len(kept) + BUCKETS, WIDTH)
        self.gate = nn.Embedding(len(kept) + BUCKETS, 1)
        self.norm = nn.LayerNorm(WIDTH)
        self.hidden = nn.Linear(WIDTH, HIDDEN)
        self.out = nn.Linear(HIDDEN, outputs)

    def rows(self, ids):
        return self.row[ids].long()

    def pool(self, rows, used):
        gate = self.gate(rows).squeeze(2).masked_fill(~used, -1e4)
        bag = (torch.softmax(gate, 1).unsqueeze(2) * self.embedding(rows)).sum(1)
        return self.out(F.gelu(self.hidden(self.norm(bag))))

    def forward(self, ids):
        # Everything before the end piece counts; the start piece keeps the bag from being empty.
        used = (ids == END).long().cumsum(1) == 0
        return self.pool(self.rows(ids), used)


def prompts_of(concepts):
    """(texts, concept of each): every name in every prompt."""
    texts, wanted = [], []
    for name, concept in concepts.index.items():
        for prompt in PROMPTS:
            texts.append(prompt.format(name))
            wanted.append(concept)
    return texts, torch.tensor(wanted)


def tower_vectors(tower, concepts, merges, prompt, preferred):
    """Unit vectors [concepts, d] that the tower gives for the preferred, else first, name of each."""
    chosen = [names[0] for names in concepts.names]
    for name in preferred:
        chosen[concepts.index[name]] = name
    texts = [prompt.format(name) for name in chosen]
    with torch.no_grad():
        return F.normalize(tower(torch.tensor(Bpe(merges).rows(texts))), dim=1)


def load_or_train_tower(concepts, merges, work, log=print):
    """As train_tower, from the work folder if it is already there."""
    file = work / "text_tower.pt"
    if file.exists():
        state, kept = torch.load(file, weights_only=True)
        tower = TextTower(kept, concepts.vectors.shape[1])
        tower.load_state_dict(state)
        return tower.eval(), kept
    tower, kept = train_tower(concepts, merges, log)
    work.mkdir(parents=True, exist_ok=True)
    torch.save((tower.state_dict(), kept), file)
    return tower, kept


def train_tower(concepts, merges, log=print):
    """Returns (tower in eval mode, kept ids)."""
    texts, wanted = prompts_of(concepts)
    ids = torch.tensor(Bpe(merges).rows(texts))
    kept = sorted(set(ids[(ids != 0)].tolist()) - {END})
    longest = int((ids == END).int().argmax(1).max())
    ids = ids[:, : longest + 1]
    torch.manual_seed(SEED)
    tower = TextTower(kept, concepts.vectors.shape[1])
    generator = torch.Generator().manual_seed(SEED)
    optimiser = torch.optim.AdamW(tower.parameters(), RATE, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, STEPS)
    for step in range(STEPS):
        pick = torch.randint(len(ids), (BATCH,), generator=generator)
        rows = tower.rows(ids[pick])
        used = (ids[pick] == END).long().cumsum(1) == 0
        lost = torch.rand(rows.shape, generator=generator) < DROP
        lost &= ids[pick] != START
        bucket = tower.kept + torch.randint(BUCKETS, rows.shape, generator=generator)
        points = F.normalize(tower.pool(torch.where(lost, bucket, rows), used), dim=1)
        goal = wanted[pick]
        near = 1 - (points * concepts.vectors[goal]).sum(1).mean()
        apart = F.cross_entropy(SCALE * points @ concepts.vectors.T, goal)
        loss = near + 0.1 * apart
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        if step % 500 == 0 or step + 1 == STEPS:
            log(f"text tower step {step} loss {loss.item():.4f} (1 - cosine {near.item():.4f})")
    return tower.eval(), kept
