// Failure tests assert the message.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "probe/core/error.h"

// Expects `statement` to throw probe::Error of `kind` whose message contains `text`.
#define EXPECT_PROBE_ERROR(statement, expected_kind, text)                            \
  try {                                                                               \
    statement;                                                                        \
    ADD_FAILURE() << "expected an Error with \"" << (text) << "\", got none";         \
  } catch (const probe::Error& error) {                                               \
    EXPECT_EQ(error.kind(), expected_kind) << error.what();                           \
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos)                \
        << "message: " << error.what() << "\nexpected: " << (text);                   \
  }
