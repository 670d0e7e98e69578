// Workbooks. First byte: the bytes are a whole archive, or the parts of one, divided by NUL,
// since random bytes seldom keep an archive's checksums.
#include <zip.h>

#include <array>

#include "probe/data/xlsx.h"
#include "tests/fuzz/fuzz_input.h"

namespace probe {
namespace {

std::filesystem::path write_archive(std::string_view bytes) {
  constexpr std::array names = {"xl/worksheets/sheet1.xml", "xl/sharedStrings.xml",
                                "xl/workbook.xml", "xl/_rels/workbook.xml.rels"};
  constexpr std::array<std::string_view, 4> usual = {
      "", "", R"(<workbook><sheets><sheet r:id="a"/></sheets></workbook>)",
      R"(<Relationships><R Id="a" Target="worksheets/sheet1.xml"/></Relationships>)"};
  const std::filesystem::path path = fuzz::write_file("parts.xlsx", "");
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
  FUZZ_EXPECT(archive != nullptr);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string_view part = bytes.substr(0, bytes.find('\0'));
    bytes.remove_prefix(std::min(bytes.size(), part.size() + 1));
    const std::string_view content = part.empty() ? usual[i] : part;
    if (content.empty()) continue;
    zip_source_t* source = zip_source_buffer(archive, content.data(), content.size(), 0);
    const zip_int64_t index = zip_file_add(archive, names[i], source, 0);
    FUZZ_EXPECT(index >= 0);
    zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0);
  }
  FUZZ_EXPECT(zip_close(archive) == 0);
  return path;
}

}  // namespace
}  // namespace probe

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace probe;
  const fuzz::Input input(data, size);
  if (input.rest.empty()) return 0;
  fuzz::accept_error([&] {
    const DelimitedTable table = read_xlsx(input.choice % 2 == 0
                                               ? fuzz::write_file("whole.xlsx", input.rest)
                                               : write_archive(input.rest));
    FUZZ_EXPECT(!table.header.empty() && !table.rows.empty());
    for (const DelimitedRow& row : table.rows) {
      FUZZ_EXPECT(row.fields.size() == table.header.size());
    }
  });
  return 0;
}
