#include "probe/data/jpeg.h"

#include <csetjmp>
#include <cstdio>  // jpeglib.h needs FILE
#include <cstdint>
#include <string>
#include <vector>

#include <jpeglib.h>

#include <jerror.h>

#include "probe/core/error.h"

namespace probe {
namespace {

// libjpeg reports errors by calling back; the only way out of C is a jump.
struct JpegErrors {
  jpeg_error_mgr manager;
  std::jmp_buf escape;
  char message[JMSG_LENGTH_MAX] = {};
  bool data_ended = false;  // an end mark was made up
};

[[noreturn]] void stop_at_end(JpegErrors* errors) {
  std::snprintf(errors->message, sizeof(errors->message), "the data end early");
  std::longjmp(errors->escape, 1);
}

void on_error(j_common_ptr info) {
  auto* errors = reinterpret_cast<JpegErrors*>(info->err);
  info->err->format_message(info, errors->message);
  std::longjmp(errors->escape, 1);
}

// A warning that the entropy decoder met a mark where it needed bits; when that mark is
// the one we made up, picture data are missing.
void on_message(j_common_ptr info, int level) {
  auto* errors = reinterpret_cast<JpegErrors*>(info->err);
  if (level < 0 && info->err->msg_code == JWRN_HIT_MARKER && errors->data_ended) {
    stop_at_end(errors);
  }
}

void on_source_start(j_decompress_ptr) {}

// At the end of the data an end mark is made up, as libjpeg's own source does: it reads a
// few bytes ahead, so a picture that only lacks its end mark must get past this point.
boolean on_data_end(j_decompress_ptr info) {
  static const JOCTET kEndMark[2] = {0xFF, JPEG_EOI};
  auto* errors = reinterpret_cast<JpegErrors*>(info->err);
  errors->data_ended = true;
  info->src->next_input_byte = kEndMark;
  info->src->bytes_in_buffer = 2;
  return TRUE;
}

void on_skip(j_decompress_ptr info, long count) {
  if (count <= 0) return;
  if (static_cast<std::size_t>(count) > info->src->bytes_in_buffer) {
    stop_at_end(reinterpret_cast<JpegErrors*>(info->err));
  }
  info->src->next_input_byte += count;
  info->src->bytes_in_buffer -= static_cast<std::size_t>(count);
}

void on_source_end(j_decompress_ptr) {}

// Pillow's CMYK to RGB (libImaging/Convert.c, cmyk2rgb): (255-K) - (255-K)*C/255,
// after Pillow inverted the stored values because Adobe stores them inverted.
void cmyk_row_to_rgb(const std::uint8_t* cmyk, int width, std::uint8_t* rgb) {
  for (int x = 0; x < width; ++x, cmyk += 4, rgb += 3) {
    const int paper = cmyk[3];  // stored inverted: 255 - K
    for (int channel = 0; channel < 3; ++channel) {
      const int ink = 255 - cmyk[channel];
      const int product = paper * ink + 128;
      rgb[channel] = static_cast<std::uint8_t>(paper - ((product + (product >> 8)) >> 8));
    }
  }
}

// True if a progressive picture lacks scans: some coefficient was never sent, or not to
// its last bit.
bool lacks_scans(const jpeg_decompress_struct& info) {
  if (info.progressive_mode == FALSE || info.coef_bits == nullptr) return false;
  for (int component = 0; component < info.num_components; ++component) {
    for (int k = 0; k < DCTSIZE2; ++k) {
      if (info.coef_bits[component][k] != 0) return true;
    }
  }
  return false;
}

// Everything that must survive the jump lives outside the function that sets it.
struct JpegDecoder {
  jpeg_decompress_struct info{};
  JpegErrors errors{};
  jpeg_source_mgr source{};
  RgbImage image;
  std::vector<std::uint8_t> cmyk_row;

  ~JpegDecoder() { jpeg_destroy_decompress(&info); }

  // False if libjpeg jumped out; errors.message then holds the reason.
  bool run(std::string_view bytes, int divisor) {
    info.err = jpeg_std_error(&errors.manager);
    errors.manager.error_exit = on_error;
    errors.manager.emit_message = on_message;
    if (setjmp(errors.escape) != 0) return false;
    jpeg_create_decompress(&info);
    source.next_input_byte = reinterpret_cast<const JOCTET*>(bytes.data());
    source.bytes_in_buffer = bytes.size();
    source.init_source = on_source_start;
    source.fill_input_buffer = on_data_end;
    source.skip_input_data = on_skip;
    source.resync_to_restart = jpeg_resync_to_restart;
    source.term_source = on_source_end;
    info.src = &source;
    jpeg_read_header(&info, TRUE);
    const bool cmyk = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
    info.out_color_space = cmyk ? JCS_CMYK : JCS_RGB;
    info.dct_method = JDCT_ISLOW;
    info.scale_num = 1;
    info.scale_denom = static_cast<unsigned>(divisor);
    jpeg_start_decompress(&info);
    if (errors.data_ended && lacks_scans(info)) stop_at_end(&errors);
    image.width = static_cast<int>(info.output_width);
    image.height = static_cast<int>(info.output_height);
    image.pixels.resize(std::size_t{3} * info.output_width * info.output_height);
    if (cmyk) cmyk_row.resize(std::size_t{4} * info.output_width);
    while (info.output_scanline < info.output_height) {
      std::uint8_t* rgb =
          image.pixels.data() + std::size_t{3} * info.output_width * info.output_scanline;
      JSAMPROW row = cmyk ? cmyk_row.data() : rgb;
      jpeg_read_scanlines(&info, &row, 1);
      if (cmyk) cmyk_row_to_rgb(cmyk_row.data(), image.width, rgb);
    }
    return true;
  }
};

}  // namespace

RgbImage decode_jpeg(std::string_view bytes, int divisor) {
  JpegDecoder decoder;
  if (!decoder.run(bytes, divisor)) {
    std::string reason = std::string("damaged JPEG: ") + decoder.errors.message;
    if (decoder.info.output_height > 0) {
      reason += " after row " + std::to_string(decoder.info.output_scanline) + " of " +
                std::to_string(decoder.info.output_height);
    }
    throw Error(ErrorKind::input, reason);
  }
  return std::move(decoder.image);
}

}  // namespace probe
