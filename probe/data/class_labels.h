// Lists of classes with one or more names each.
#pragma once

#include <filesystem>
#include <vector>

#include "probe/core/class_label.h"

namespace probe {

// By the file's name:
//   *.json   {"class": ["name", "other name"], ...}, or ["class", ...]
//   others   one class a line; "class<TAB>name|other name" gives it names of its own
// A class without names is called by its own. Order is kept.
//
// Throws Error(input) with the line or class: empty, named twice, a name that two classes
// share (nothing could tell them apart), no classes.
std::vector<ClassLabel> read_class_labels(const std::filesystem::path& path);

}  // namespace probe
