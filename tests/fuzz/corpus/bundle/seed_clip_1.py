0class TextTower(Module):
  __parameters__ = ["position", ]
  __buffers__ = []
  position : Tensor
  training : bool
  _is_full_backward_hook : Optional[bool]
  token : __torch__.torch.nn.modules.sparse.Embedding
  blocks : __torch__.torch.nn.modules.container.___torch_mangle_47.ModuleList
  final_norm : __torch__.torch.nn.modules.normalization.___torch_mangle_48.LayerNorm
  projection : __torch__.torch.nn.modules.linear.___torch_mangle_49.Linear
  def forward(self: __torch__.probe_export.towers.TextTower,
    ids: Tensor) -> Tensor:
    projection = self.projection
    final_norm = self.final_norm
    blocks = self.blocks
    _1 = getattr(blocks, "1")
    blocks0 = self.blocks
    _0 = getattr(blocks0, "0")
    position = self.position
    token = self.token
    input = torch.add((token).forward(ids, ), position)
    _2 = (_1).forward((_0).forward(input, ), )
    place = torch.argmax(torch.to(torch.eq(ids, 49407), 3), 1)
    _3 = torch.slice(place, 0, 0, 9223372036854775807)
    _4 = torch.unsqueeze(torch.unsqueeze(_3, 1), 2)
    _5 = torch.gather(_2, 1, torch.expand(_4, [-1, 1, 8]))
    input0 = torch.squeeze(_5, 1)
    _6 = (projection).forward((final_norm).forward(input0, ), )
    return _6
