// Heads of requests against RFC 9110 and 9112.
#include "serve/http_head.h"

#include <gtest/gtest.h>

#include "serve/api_error.h"
#include "serve/http_stream.h"

namespace arrcoc::serving {
namespace {

const HeadLimits kLimits;

int judged(const std::string& head) {
  try {
    const size_t size = head_size(head, kLimits);
    if (size == 0) return 0;
    judge_head(std::string_view(head).substr(0, size), kLimits);
    return 200;
  } catch (const ApiError& e) {
    return e.status();
  }
}

TEST(HttpHead, EndsAtTheEmptyLine) {
  const std::string head = "GET / HTTP/1.1\r\nHost: a\r\n\r\n", both = head + "GET /next";
  for (size_t n = 0; n < head.size(); ++n)
    EXPECT_EQ(head_size(both.substr(0, n), kLimits), 0U) << n;
  EXPECT_EQ(head_size(both, kLimits), head.size());
  // Wherever the search was interrupted.
  for (size_t from = 0; from <= both.size(); ++from)
    if (from < head.size()) EXPECT_EQ(head_size(both, kLimits, from), head.size()) << from;
  EXPECT_EQ(head_size("\r\n" + head, kLimits), head.size() + 2)
      << "RFC 9112 2.2: empty line before";
}

TEST(HttpHead, TheLimitsHoldBeforeTheEndHasCome) {
  EXPECT_EQ(judged("GET /" + std::string(9000, 'a')), 414);
  EXPECT_EQ(judged("GET /" + std::string(9000, 'a') + " HTTP/1.1\r\n\r\n"), 414);
  EXPECT_EQ(judged("GET / HTTP/1.1\r\nX: " + std::string(40000, 'a')), 431);
  EXPECT_EQ(judged("GET / HTTP/1.1\r\nX: " + std::string(9000, 'a') + "\r\n\r\n"), 431);
  std::string many = "GET / HTTP/1.1\r\n";
  for (int i = 0; i < 100; ++i) many += "X: 1\r\n";
  EXPECT_EQ(judged(many + "\r\n"), 200);
  EXPECT_EQ(judged(many + "X: 1\r\n\r\n"), 431);
  EXPECT_EQ(judged(std::string(9000, '\n')), 400);
}

TEST(HttpHead, WhatTwoReadersMightReadDifferentlyIsRefused) {
  const auto with = [](const std::string& fields) {
    return judged("POST / HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n");
  };
  EXPECT_EQ(with("Content-Length: 5\r\n"), 200);
  EXPECT_EQ(with("Transfer-Encoding: chunked\r\n"), 200);
  EXPECT_EQ(with("transfer-encoding: CHUNKED\r\n"), 200);
  EXPECT_EQ(with("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), 400);
  EXPECT_EQ(with("TRANSFER-ENCODING: chunked\r\ncontent-length: 5\r\n"), 400);
  EXPECT_EQ(with("Content-Length: 5\r\nContent-Length: 5\r\n"), 400);
  EXPECT_EQ(with("Content-Length: 5, 5\r\n"), 400);
  EXPECT_EQ(with("Content-Length: +5\r\n"), 400);
  EXPECT_EQ(with("Content-Length: -1\r\n"), 400);
  EXPECT_EQ(with("Content-Length:\r\n"), 400);
  EXPECT_EQ(with("Content-Length: 0x5\r\n"), 400);
  EXPECT_EQ(with("Transfer-Encoding: gzip, chunked\r\n"), 501);
  EXPECT_EQ(with("Transfer-Encoding: identity\r\n"), 501);
  EXPECT_EQ(with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), 400);
  EXPECT_EQ(with("Transfer-Encoding : chunked\r\n"), 400) << "space before the colon";
  EXPECT_EQ(with("X: a\r\n b\r\n"), 400) << "folded";
  EXPECT_EQ(with(" X: a\r\n"), 400);
  EXPECT_EQ(with(": a\r\n"), 400);
  EXPECT_EQ(with("X\r\n"), 400);
  EXPECT_EQ(with("X: a\nY: b\r\n"), 400) << "lone LF";
  EXPECT_EQ(with("X: a\rY: b\r\n"), 400) << "lone CR";
  EXPECT_EQ(with(std::string("X: a\0b\r\n", 8)), 400);
  EXPECT_EQ(with("X: a\tb \xc3\xa9\r\n"), 200);
  EXPECT_EQ(judged("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
}

TEST(HttpHead, WhereNoLengthIsGivenThereIsNoBody) {
  EXPECT_NE(judge_head("POST / HTTP/1.1\r\n\r\n", kLimits).text.find("Content-Length: 0\r\n"),
            std::string::npos);
  EXPECT_EQ(judge_head("GET / HTTP/1.1\r\n\r\n", kLimits).text, "GET / HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(judge_head("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", kLimits).chunked);
}

// However the bytes are cut.
TEST(ChunkFrames, AreFollowedByteByByte) {
  const auto framed = [](const std::string& body) {
    bool out = true;
    for (size_t piece : {size_t{1}, size_t{3}, body.size()}) {
      ChunkFrame frame;
      bool well = true;
      for (size_t at = 0; at < body.size() && well; at += piece)
        well = frame.follows(body.data() + at, std::min(piece, body.size() - at));
      if (piece > 1) EXPECT_EQ(well, out) << body;
      out = well;
    }
    return out;
  };
  EXPECT_TRUE(framed("5\r\nhello\r\n0\r\n\r\n"));
  EXPECT_TRUE(framed("A;x=1\r\n0123456789\r\n00\r\n\r\n"));
  EXPECT_TRUE(framed("5\r\nhel")) << "more may come";
  for (const char* bad : {"\r\n", "5\nhello\r\n", "5\r\nhelloX\r\n0\r\n\r\n", "0x5\r\nhello",
                          "+5\r\nhello", " 5\r\nhello", "-5\r\n", "5 \r\nhello", "123456789\r\n",
                          "g\r\n", "0\r\nTrailer: x\r\n\r\n", "5;a\nb\r\n", "0\r\n\r\nGET"})
    EXPECT_FALSE(framed(bad)) << bad;
  EXPECT_FALSE(framed("5;" + std::string(1000, 'a')));
}

TEST(HttpHead, RequestLines) {
  EXPECT_EQ(judged("GET / HTTP/1.0\r\n\r\n"), 200);
  EXPECT_EQ(judged("GET / HTTP/2.0\r\n\r\n"), 505);
  EXPECT_EQ(judged("GET / HTTP/9.9\r\n\r\n"), 505);
  EXPECT_EQ(judged("GET /\r\n\r\n"), 400);
  EXPECT_EQ(judged("GET  HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(judged("GET / / HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(judged("G(T / HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(judged("GET / RTSP/1.1\r\n\r\n"), 400);
  const std::string head = "PUT /a%20b?c=/d HTTP/1.1\r\n\r\n";
  EXPECT_EQ(judge_head(head, kLimits).path, "/a%20b");
}

TEST(HttpHead, TheReaderBehindGetsRangesUnderAnotherNameAndValuesAsTheyAre) {
  const RequestHead head =
      judge_head("GET / HTTP/1.1\r\nRANGE:  bytes=0-1,2-3 \r\nX: 50%25 %0d%0a\r\n\r\n", kLimits);
  EXPECT_EQ(head.text,
            "GET / HTTP/1.1\r\nX-Arrcoc-Range: bytes=0-1,2-3\r\nX: 50%2525 %250d%250a\r\n\r\n");
  EXPECT_TRUE(head.bodiless);
}

}  // namespace
}  // namespace arrcoc::serving
