// Results as one HTML page that needs nothing but itself: no network, no other files.
//
// The page's policy (a Content-Security-Policy in its head) forbids every request and every
// script and style but our own, which are named by hash. Data reach the page as one block
// of JSON without "<", and the scripts put them in as text, never as HTML.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analysis/table.h"

namespace probe {

// One result, and the file it was read from.
struct PageResult {
  std::string file;
  Report report;
};

struct ReportPage {
  std::string title;
  std::vector<PageResult> results;                // in the order of the page
  std::map<std::string, std::string> pictures;    // JPEG bytes by item id
  std::vector<Failure> missing;                   // pictures that could not be read
  std::map<std::string, std::string> provenance;  // of the page itself
};

// The page, UTF-8. The same input gives the same bytes.
std::string render_page(const ReportPage& page);

// The ids that name items: text cells of columns marked `items`, in order of appearance,
// each once.
std::vector<std::string> pictured_items(const std::vector<PageResult>& results);

}  // namespace probe
