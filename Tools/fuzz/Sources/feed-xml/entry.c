#include <stddef.h>
#include <stdint.h>

// Sources/FuzzTargets/FeedXMLTarget.swift
void fuzz_feed_xml(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  fuzz_feed_xml(bytes, count);
  return 0;
}
