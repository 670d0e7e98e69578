// What the code inside a TorchScript archive may call. Archives come from other people: their
// code is read before any of it runs, and only operators that compute on tensors are let in, so
// that no bundle opens a file or a connection, prints, or runs custom C++ classes.
#pragma once

#include <string>
#include <string_view>

namespace probe {

// `text`: one source file of the archive, as torch.jit.save writes it; `name` begins messages.
// Throws Error(model) "<name>:<line>: ...": a call of an operator that is not on the list in
// torchscript_code.cc, a method other than forward that is defined or called, brackets nested
// more than 200 deep, a string that does not end.
void check_torchscript_code(std::string_view text, const std::string& name);

// The same list for the nodes of the graph that was made of the code: "aten::linear".
bool is_encoder_operator(std::string_view kind);

}  // namespace probe
