// The columns of ItemColumns by name.
#pragma once

#include <string>
#include <vector>

#include "probe/core/embedding_set.h"

namespace probe {

struct ItemColumn {
  const char* name;
  std::vector<std::string> ItemColumns::*values;
};

// In the order that files have them.
inline constexpr ItemColumn kItemColumns[] = {
    {"id", &ItemColumns::id},
    {"path", &ItemColumns::path},
    {"category", &ItemColumns::category},
    {"condition", &ItemColumns::condition},
    {"original_id", &ItemColumns::original_id},
    {"attribute", &ItemColumns::attribute},
    {"content_sha256", &ItemColumns::content_sha256},
};

}  // namespace probe
