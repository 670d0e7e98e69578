# Flags of our own targets, carried by `probe_options`; nothing is set directory-wide.
add_library(probe_options INTERFACE)
target_compile_features(probe_options INTERFACE cxx_std_20)
target_compile_options(probe_options INTERFACE -Wall -Wextra)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 warns of nothing in std::string's operator+ (its bug 105651).
  target_compile_options(probe_options INTERFACE -Wno-restrict)
endif()
target_include_directories(probe_options INTERFACE ${PROJECT_SOURCE_DIR})
if(PROBE_SANITIZE)
  target_compile_options(probe_options INTERFACE
    -fsanitize=${PROBE_SANITIZE} -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  target_link_options(probe_options INTERFACE -fsanitize=${PROBE_SANITIZE})
endif()

# probe_library(NAME sources...): one static library a folder.
function(probe_library name)
  add_library(${name} STATIC ${ARGN})
  target_link_libraries(${name} PUBLIC probe_options Eigen3::Eigen)
endfunction()
