// The fixed parts of the report page (analysis/report_page/), compiled into the program by
// cmake/EmbedPage.cmake.
#pragma once

#include <span>
#include <string_view>

namespace probe {

extern const std::string_view kPageTemplate;  // with {{policy}}, {{style}}, {{data}}, {{scripts}}
extern const std::string_view kPageStyle;
extern const std::span<const std::string_view> kPageScripts;  // in the order they run

}  // namespace probe
