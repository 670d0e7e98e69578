# A LibTorch of the old string ABI would force it on every target, and the linker would blame
# OpenCV or HDF5 (BUGCASES 26): say so before ten minutes of compiling.
if("${TORCH_CXX_FLAGS}" MATCHES "_GLIBCXX_USE_CXX11_ABI=0")
  message(FATAL_ERROR "LibTorch was built with the old C++ string ABI (_GLIBCXX_USE_CXX11_ABI=0), "
    "the distribution's OpenCV and HDF5 with the new one: use the wheel torch==2.13.0+cpu or a "
    "libtorch archive named cxx11-abi")
endif()
