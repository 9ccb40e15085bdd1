#include <stddef.h>
#include <stdint.h>

// Sources/FuzzTargets/FeedMappingTarget.swift
void fuzz_feed_mapping(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  fuzz_feed_mapping(bytes, count);
  return 0;
}
