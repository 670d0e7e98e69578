"""Makes the small pictures of tests/data/image_file_test.cc and says what Pillow reads.

Run by hand (Pillow 13.0): python make_images.py; the files are in the repository. The
expected values in the test are those that this script prints, except where the test's
comment names a documented difference (BUGCASES 02).
"""

import io
import pathlib
import struct
import zlib

import numpy as np
from PIL import Image

here = pathlib.Path(__file__).parent


def save(name: str, data: bytes) -> None:
    (here / name).write_bytes(data)


def encoded(image: Image.Image, form: str, **options) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, form, **options)
    return buffer.getvalue()


def png_chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


# Bugcase 01: left half red, right half blue, EXIF orientation 6 in three formats.
halves = Image.new("RGB", (40, 20), (255, 0, 0))
halves.paste((0, 0, 255), (20, 0, 40, 20))
exif = Image.Exif()
exif[0x0112] = 6
save("exif6.jpg", encoded(halves, "JPEG", exif=exif, quality=95))
save("exif6.png", encoded(halves, "PNG", exif=exif))
save("exif6.webp", encoded(halves, "WEBP", exif=exif, lossless=True))
for value in (0, 9):
    exif[0x0112] = value
    save(f"exif{value}.jpg", encoded(halves, "JPEG", exif=exif, quality=95))

# Bugcase 02: 16-bit grey, column i = 257 i; 16-bit RGB.
grey16 = np.tile((np.arange(256) * 257).astype(np.uint16), (4, 1))
save("grey16.png", encoded(Image.fromarray(grey16), "PNG"))
rgb16 = b"".join(b"\0" + struct.pack(">3H", 0x1234, 0x8000, 0xFFFF) * 4 for _ in range(4))
save(
    "rgb16.png",
    b"\x89PNG\r\n\x1a\n"
    + png_chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 4, 16, 2, 0, 0, 0))
    + png_chunk(b"IDAT", zlib.compress(rgb16))
    + png_chunk(b"IEND", b""),
)

# Bugcase 04: CMYK with Adobe marker, the same read as YCCK, and without the marker.
cmyk = bytearray(encoded(Image.new("CMYK", (16, 16), (0, 255, 255, 0)), "JPEG", quality=95))
save("cmyk.jpg", bytes(cmyk))
at = cmyk.index(b"Adobe")
ycck = bytearray(cmyk)
ycck[at + 11] = 2
save("ycck.jpg", bytes(ycck))
save("cmyk_no_adobe.jpg", bytes(cmyk[: at - 4] + cmyk[at + 12 :]))

# Bugcase 05: truncated, empty, HTML.
noise = Image.fromarray(np.random.default_rng(5).integers(0, 256, (64, 64, 3), dtype=np.uint8))
jpeg, png = encoded(noise, "JPEG", quality=90), encoded(noise, "PNG")
save("whole.jpg", jpeg)
save("half.jpg", jpeg[: len(jpeg) // 2])
save("no_end.jpg", jpeg[:-2])
save("half.png", png[: len(png) // 2])
save("empty.jpg", b"")
save("page.jpg", b"<!DOCTYPE html><html><body>404</body></html>")

# Bugcase 08: a bomb that says so in its header only, and one that is small on disk.
save(
    "header_bomb.png",
    b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", struct.pack(">IIBBBBB", 60000, 60000, 8, 2, 0, 0, 0)),
)

# Modes: palette with transparency, grey with alpha, RGBA.
rgba = Image.new("RGBA", (3, 2), (10, 20, 30, 0))
rgba.putpixel((1, 0), (200, 100, 50, 128))
save("rgba.png", encoded(rgba, "PNG"))
save("palette.png", encoded(rgba.convert("RGB").quantize(4), "PNG", transparency=0))
save("grey_alpha.png", encoded(Image.new("LA", (2, 2), (77, 3)), "PNG"))

for path in sorted(here.iterdir()):
    if path.suffix == ".py":
        continue
    try:
        image = Image.open(path)
        image.load()
        pixels = np.asarray(image.convert("RGB"))
        print(path.name, image.mode, image.size, pixels[0, 0], pixels[-1, -1], pixels.sum())
    except Exception as error:  # what Pillow says of the damaged ones
        print(path.name, "ERROR", error)
