// Faults of a library that reads an untrusted file end with the process that tried.
#include "probe/store/apart.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include "tests/support/expect_error.h"

namespace probe {
namespace {

constexpr unsigned kSeconds = 5;

TEST(TryApart, WhatWorkMadeIsDropped) {
  int made = 0;
  try_apart("a.h5", kSeconds, [&] { made = 1; });
  EXPECT_EQ(made, 0);
}

TEST(TryApart, AnErrorComesBackAsItWas) {
  EXPECT_PROBE_ERROR(
      try_apart("a.h5", kSeconds, [] { throw Error(ErrorKind::io, "a.h5:/items: no such thing"); }),
      ErrorKind::io, "a.h5:/items: no such thing");
  EXPECT_PROBE_ERROR(
      try_apart("a.h5", kSeconds,
                [] { throw Error(ErrorKind::input, std::string(100'000, 'x') + " end"); }),
      ErrorKind::input, "x end");
}

TEST(TryApart, ABreakdownIsADamagedFile) {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT}) {
    EXPECT_PROBE_ERROR(try_apart("a.h5", kSeconds, [signal] { std::raise(signal); }),
                       ErrorKind::input, "a.h5: damaged: the HDF5 library broke down reading it");
  }
  EXPECT_PROBE_ERROR(try_apart("a.h5", kSeconds, [] { throw std::runtime_error("not ours"); }),
                     ErrorKind::input, "broke down");
}

TEST(TryApart, AnEndlessLoopIsADamagedFile) {
  EXPECT_PROBE_ERROR(try_apart("a.h5", 1,
                               [] {
                                 volatile int turns = 0;
                                 while (turns == 0) {
                                 }
                               }),
                     ErrorKind::input, "a.h5: damaged: reading it did not come to an end");
}

}  // namespace
}  // namespace probe
