// SPDX-License-Identifier: Apache-2.0
#include "scenarios/traces/fields.h"

#include <catch2/catch.hpp>

using namespace poolcast;

TEST_CASE("Integers and real numbers are the whole field or nothing") {
  CHECK(parse_integer("12") == 12);
  CHECK(parse_integer("-3") == -3);
  CHECK(parse_integer("9223372036854775807") == INT64_MAX);
  for (const char* text : {"", " 1", "1 ", "1.0", "1e3", "+1", "0x10", "9223372036854775808", "nan"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_integer(text));
  }
  CHECK(parse_real("1.25e2") == 125.0);
  CHECK(parse_real("-0.5") == -0.5);
  for (const char* text : {"", "nan", "inf", "-inf", "1e400", "1.2.3", "1,2", "1s"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_real(text));
  }
}

TEST_CASE("Instants of both Azure formats are exact to the nanosecond") {
  const auto first = parse_instant("2023-11-16 18:17:03.9799600"),
             second = parse_instant("2023-11-16 18:17:04.0319600");
  REQUIRE(first);
  REQUIRE(second);
  CHECK(*second - *first == 52'000'000);
  CHECK(*first == 1'700'158'623'979'960'000);
  CHECK(parse_instant("1970-01-01 00:00:00") == 0);
  CHECK(parse_instant("2024-05-10 00:00:00.009930+00:00") == 1'715'299'200'009'930'000);
  CHECK(parse_instant("2024-05-10T02:00:00+02:00") == parse_instant("2024-05-10 00:00:00Z"));
  CHECK(parse_instant("2024-02-29 23:59:59.5").value() + 500'000'000 == parse_instant("2024-03-01 00:00:00"));
  CHECK(parse_instant("1969-12-31 23:59:59.000000001") == -999'999'999);
  CHECK(parse_instant("2024-05-10 00:00:00.1234567891234") == parse_instant("2024-05-10 00:00:00.123456789"));
}

TEST_CASE("What is no instant is nothing") {
  for (const char* text :
       {"", "2024-05-10", "2024-02-30 00:00:00", "2023-02-29 00:00:00", "2024-13-01 00:00:00", "2024-05-10 24:00:00",
        "2024-05-10 00:61:00", "2024-05-10 00:00:00.", "2024-05-10 00:00:00+2", "2024-05-10 00:00:00+25:00",
        "2024-05-10x00:00:00", "2024/05/10 00:00:00", "2024-05-10 00:00:00 ", "0000-05-10 00:00:00"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_instant(text));
  }
}

TEST_CASE("CSV fields may be quoted") {
  std::vector<std::string_view> fields;
  std::string scratch;
  using Fields = std::vector<std::string_view>;
  CHECK(split_csv("1,,3", fields, scratch));
  CHECK(fields == Fields{"1", "", "3"});
  CHECK(split_csv("", fields, scratch));
  CHECK(fields == Fields{""});
  CHECK(split_csv(R"(1,"a,b","say ""hi""",)", fields, scratch));
  CHECK(fields == Fields{"1", "a,b", R"(say "hi")", ""});
  CHECK(split_csv(R"("","x")", fields, scratch));
  CHECK(fields == Fields{"", "x"});
  CHECK_FALSE(split_csv(R"(1,"open)", fields, scratch));
  CHECK_FALSE(split_csv(R"(1,"a"b)", fields, scratch));
}
