// NEMO's Fig. G (D.2): what choice questions are mistaken for.
#pragma once

#include <vector>

#include "analysis/figure.h"
#include "analysis/subject.h"

namespace probe {

// Two figures for each subject that answered choice questions about modified items (about
// originals if no item is modified):
//   fig_g_confusion_<name>  heatmap: row = right name, column = picked name, percent of the
//                           row's answers; a pair that was never offered has no cell
//   fig_g_chord_<name>      chord: wrong answers from right to picked name, in questions (an
//                           answer at one of four shifts counts a quarter)
// What no rule could read goes to "(unparsed)".
std::vector<Figure> confusion_figures(const std::vector<Subject>& subjects,
                                      const ItemColumns& items);

inline constexpr const char* kUnparsedName = "(unparsed)";

// Lower-case letters, digits and "_": a name for machines.
std::string machine_name(const std::string& name);

}  // namespace probe
