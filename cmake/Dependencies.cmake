# LibTorch comes from the PyTorch wheel in the project's .venv (scripts/setup.sh), unless
# CMAKE_PREFIX_PATH or Torch_DIR already names one.
if(NOT Torch_DIR)
  file(GLOB venv_torch ${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch/share/cmake)
  list(APPEND CMAKE_PREFIX_PATH ${venv_torch})
endif()

find_package(Eigen3 3.4 REQUIRED)
find_package(HDF5 REQUIRED COMPONENTS C)
find_package(OpenCV REQUIRED COMPONENTS core imgproc imgcodecs)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(ZLIB REQUIRED)
find_package(JPEG REQUIRED)
find_package(ICU REQUIRED COMPONENTS uc i18n)
find_package(nlohmann_json REQUIRED)
find_package(fmt REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(LBFGS REQUIRED IMPORTED_TARGET liblbfgs)
pkg_check_modules(SENTENCEPIECE REQUIRED IMPORTED_TARGET sentencepiece)
pkg_check_modules(LIBZIP REQUIRED IMPORTED_TARGET libzip)
find_package(pugixml REQUIRED)

add_library(probe_hdf5 INTERFACE)
target_link_libraries(probe_hdf5 INTERFACE ${HDF5_C_LIBRARIES})
target_include_directories(probe_hdf5 SYSTEM INTERFACE ${HDF5_C_INCLUDE_DIRS})

if(PROBE_BUILD_FUZZERS)
  return()
endif()
find_package(CLI11 REQUIRED)
find_package(OpenMP REQUIRED)   # before faiss: its config needs the target
find_package(faiss REQUIRED)
find_package(Torch 2.13 REQUIRED)
include(${CMAKE_CURRENT_LIST_DIR}/StringAbi.cmake)

# The wheel brings its own libgomp; two OpenMP runtimes in one process crash
# (faiss#471). Its file has the name of the system's, so that only one is loaded.
add_library(probe_torch INTERFACE)
target_link_libraries(probe_torch INTERFACE ${TORCH_LIBRARIES})
target_include_directories(probe_torch SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS})
