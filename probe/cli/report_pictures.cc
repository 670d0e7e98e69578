#include "probe/cli/report_pictures.h"

#include <nlohmann/json.hpp>

#include "probe/core/error.h"
#include "probe/data/image_file.h"
#include "probe/data/manifest.h"
#include "probe/imaging/encode_jpeg.h"
#include "probe/imaging/thumbnail.h"

namespace probe {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kQuality = 82;

// An id as a result names it.
std::string id_in_results(const std::string& id) {
  return Json::parse(Json(id).dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::string small_jpeg(const Item& item, int side) {
  if (!item.image_error.empty()) throw Error(ErrorKind::input, item.image_error);
  const RgbImage image =
      item.image_bytes.empty() ? read_image(item.image) : decode_image(item.image_bytes);
  return encode_jpeg(thumbnail(image, side), kQuality, "");
}

}  // namespace

ReportPictures read_pictures(const std::vector<std::string>& ids, const PictureOptions& options) {
  std::vector<Dataset> datasets;
  for (const std::filesystem::path& path : options.datasets) {
    datasets.push_back(read_dataset(path, {{}, options.allow_outside, true}));
  }
  std::map<std::string, const Item*> items;  // the first dataset that knows the id
  for (const Dataset& dataset : datasets) {
    for (const Item& item : dataset.items) items.emplace(id_in_results(item.id), &item);
  }
  ReportPictures pictures;
  for (const std::string& id : ids) {
    const auto found = items.find(id);
    if (found == items.end()) {
      pictures.missing.push_back({id, "", "no item of this id in the data of --images"});
      continue;
    }
    if (static_cast<int>(pictures.jpeg.size()) == options.most) {
      ++pictures.left_out;
      continue;
    }
    const Item& item = *found->second;
    try {
      pictures.jpeg.emplace(id, small_jpeg(item, options.side));
    } catch (const Error& error) {
      pictures.missing.push_back({id, item.image.string(), error.what()});
    }
  }
  return pictures;
}

}  // namespace probe
