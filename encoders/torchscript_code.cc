#include "encoders/torchscript_code.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "probe/core/error.h"
#include "probe/core/utf8.h"

namespace probe {
namespace {

constexpr int kDeepest = 200;

// Operators of aten that read and write nothing but their tensors. Random ones are left out:
// an encoder that draws gives other vectors on every run. Sorted.
constexpr std::array kOperators = std::to_array<std::string_view>(
    {"Bool", "Float", "FloatImplicit", "Int", "IntImplicit", "ScalarImplicit", "__and__",
     "__contains__", "__derive_index", "__getitem__", "__is__", "__isnot__", "__not__", "__or__",
     "__range_length", "_convolution", "_shape_as_tensor", "_softmax",
     "_transformer_encoder_layer_fwd", "abs", "adaptive_avg_pool1d", "adaptive_avg_pool2d", "add",
     "add_", "addcmul", "addmm", "all", "amax", "amin", "any", "append", "arange", "argmax",
     "argmin", "argsort", "as_strided", "avg_pool2d", "baddbmm", "batch_norm", "bitwise_and",
     "bitwise_not", "bitwise_or", "bmm", "broadcast_tensors", "broadcast_to", "cat", "ceil",
     "celu", "channel_shuffle", "chunk", "clamp", "clamp_max", "clamp_min", "clone", "concat",
     "constant_pad_nd", "contiguous", "conv1d", "conv2d", "conv3d", "copy_", "cos", "cumsum",
     "detach", "device", "diff", "dim", "div", "div_", "dropout", "einsum", "elu", "embedding",
     "empty", "empty_like", "eq", "erf", "exp", "expand", "expand_as", "eye", "fill_", "flatten",
     "flip", "floor", "floor_divide", "floordiv", "full", "full_like", "gather", "ge", "gelu",
     "glu", "group_norm", "gt", "hardsigmoid", "hardswish", "hardtanh", "index", "index_add",
     "index_copy", "index_fill", "index_put", "index_put_", "index_select", "instance_norm",
     "interpolate", "is_floating_point", "isfinite", "isnan", "item", "layer_norm", "le",
     "leaky_relu", "len", "lerp", "linalg_norm", "linalg_vector_norm", "linear", "linspace", "log",
     "log_softmax", "logical_and", "logical_not", "logical_or", "logsumexp", "lt", "masked_fill",
     "masked_fill_", "masked_scatter", "matmul", "max", "max_pool2d", "maximum", "mean", "meshgrid",
     "min", "minimum", "mish", "mm", "movedim", "mul", "mul_", "multiply", "narrow",
     "native_layer_norm", "ne", "neg", "new_empty", "new_full", "new_ones", "new_tensor",
     "new_zeros", "nonzero", "norm", "numel", "ones", "ones_like", "outer", "pad", "permute",
     "pixel_shuffle", "pixel_unshuffle", "pow", "prelu", "prod", "reciprocal", "relu", "relu6",
     "relu_", "remainder", "repeat", "repeat_interleave", "reshape", "reshape_as", "rms_norm",
     "roll", "round", "rsqrt", "rsub", "scaled_dot_product_attention", "scatter", "scatter_add",
     "select", "selu", "sigmoid", "sign", "silu", "silu_", "sin", "size", "slice", "softmax",
     "softplus", "sort", "split", "split_with_sizes", "sqrt", "square", "squeeze", "stack", "std",
     "sub", "sub_", "sum", "swapaxes", "t", "tanh", "tensor_split", "threshold", "tile", "to",
     "topk", "transpose", "tril", "triu", "true_divide", "trunc", "type_as", "unbind", "unflatten",
     "unfold", "unsqueeze", "unsqueeze_", "upsample_bicubic2d", "upsample_bilinear2d",
     "upsample_nearest2d", "var", "var_mean", "view", "view_as", "where", "zeros", "zeros_like"});

// Of the namespace prim, as called in code and as nodes of a graph. Sorted.
constexpr std::array kPrimitives = std::to_array<std::string_view>(
    {"CallMethod", "Constant", "GetAttr", "If", "ListConstruct", "ListUnpack", "Loop", "NumToTensor",
     "RaiseException", "TupleConstruct", "TupleIndex", "TupleUnpack", "Uninitialized", "device",
     "dtype", "max", "min", "unchecked_cast"});

// Functions of the language itself. Sorted.
constexpr std::array kBuiltins = std::to_array<std::string_view>(
    {"annotate", "bool", "float", "getattr", "int", "isinstance", "len", "range", "unchecked_cast",
     "uninitialized"});

// Words that a bracket may follow. Sorted.
constexpr std::array kKeywords = std::to_array<std::string_view>(
    {"and", "assert", "elif", "else", "for", "if", "in", "is", "not", "or", "return", "while"});

template <std::size_t n>
bool contains(const std::array<std::string_view, n>& sorted, std::string_view word) {
  return std::binary_search(sorted.begin(), sorted.end(), word);
}

bool is_name_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// "forward", "forward1": the only methods that an exported tower has.
bool is_forward(std::string_view name) {
  return name.starts_with("forward") &&
         name.substr(7).find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_call_allowed(std::string_view path, bool of_expression) {
  const std::string_view last = path.substr(path.rfind('.') + 1);
  const bool dotted = last.size() != path.size();
  if (path.starts_with("torch.")) return path.size() == 6 + last.size() && contains(kOperators, last);
  if (path.starts_with("ops.aten.")) return path.size() == 9 + last.size() && contains(kOperators, last);
  if (path.starts_with("ops.prim.")) return path.size() == 9 + last.size() && contains(kPrimitives, last);
  if (path.starts_with("ops.") || path.starts_with("__torch__.")) return false;
  if (dotted || of_expression) return is_forward(last) || contains(kOperators, last);
  return contains(kBuiltins, path) || contains(kKeywords, path);
}

class CodeReader {
 public:
  CodeReader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  void check() {
    while (position_ < text_.size()) {
      const char c = text_[position_];
      if (c == '#') {
        position_ = std::min(text_.find('\n', position_), text_.size());
      } else if (c == '"' || c == '\'') {
        skip_string(c);
      } else if (is_name_start(c)) {
        read_path();
      } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
        while (position_ < text_.size() && (is_name(text_[position_]) || text_[position_] == '.')) {
          ++position_;
        }
      } else {
        step(c);
      }
    }
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw Error(ErrorKind::model, name_ + ":" + std::to_string(line_) + ": " + message);
  }

  void step(char c) {
    if (c == '\n') ++line_;
    if (c == '(' || c == '[' || c == '{') ++depth_;
    if (c == ')' || c == ']' || c == '}') --depth_;
    if (depth_ > kDeepest) fail("brackets nested more than 200 deep");
    if (c == '.') after_dot_ = true;
    if (c != ' ' && c != '.') after_dot_ = false;
    if (c != ' ') previous_ = {};
    ++position_;
  }

  void skip_string(char quote) {
    const std::size_t start = position_++;
    while (position_ < text_.size() && text_[position_] != quote) {
      if (text_[position_] == '\n') fail("a string does not end");
      position_ += text_[position_] == '\\' ? 2 : 1;
    }
    if (position_ >= text_.size()) fail("a string does not end");
    ++position_;
    after_dot_ = false;
    previous_ = text_.substr(start, 0);
  }

  // A name, or names joined by dots; followed by "(" it is a call or a definition.
  void read_path() {
    const std::size_t start = position_;
    while (position_ < text_.size() &&
           (is_name(text_[position_]) || (text_[position_] == '.' && position_ + 1 < text_.size() &&
                                          is_name_start(text_[position_ + 1])))) {
      ++position_;
    }
    const std::string_view path = text_.substr(start, position_ - start);
    std::size_t next = position_;
    while (next < text_.size() && (text_[next] == ' ' || text_[next] == '\n' || text_[next] == '\t' ||
                                   text_[next] == '\r' || text_[next] == '\\')) {
      ++next;
    }
    // A comment may stand before the bracket; what follows it is taken for one.
    const bool bracket = next < text_.size() && (text_[next] == '(' || text_[next] == '#');
    const std::string shown = printable(path.substr(0, 80));
    if (previous_ == "def") {
      if (!is_forward(path)) fail("defines the method \"" + shown + "\"; only forward is expected");
    } else if (previous_ != "class" && bracket && !is_call_allowed(path, after_dot_)) {
      fail("calls \"" + shown + "\", which an encoder has no need of; its code was not run");
    }
    if (!bracket && (path == "torch" || path == "ops" || path.starts_with("torch.") ||
                     path.starts_with("ops."))) {
      fail("names \"" + shown + "\" without calling it; its code was not run");
    }
    if (path.find("torch.classes") != std::string_view::npos) fail("uses a custom class, \"" + shown + "\"");
    previous_ = path;
    after_dot_ = false;
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t position_ = 0;
  int line_ = 1, depth_ = 0;
  bool after_dot_ = false;      // a dot after a bracket or a string: a method of an expression
  std::string_view previous_;   // the path before, if nothing but blanks lies between
};

}  // namespace

bool is_encoder_operator(std::string_view kind) {
  if (kind.starts_with("aten::")) return contains(kOperators, kind.substr(6));
  if (kind.starts_with("prim::")) return contains(kPrimitives, kind.substr(6));
  return false;
}

void check_torchscript_code(std::string_view text, const std::string& name) {
  static_assert(std::is_sorted(kOperators.begin(), kOperators.end()));
  static_assert(std::is_sorted(kPrimitives.begin(), kPrimitives.end()));
  static_assert(std::is_sorted(kBuiltins.begin(), kBuiltins.end()));
  static_assert(std::is_sorted(kKeywords.begin(), kKeywords.end()));
  CodeReader(text, name).check();
}

}  // namespace probe
