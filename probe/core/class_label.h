// Classes that an item can belong to.
#pragma once

#include <string>
#include <vector>

namespace probe {

struct ClassLabel {
  std::string name;                // as the items' category says it
  std::vector<std::string> names;  // what it is called in prompts; not empty
};

}  // namespace probe
