#include <stddef.h>
#include <stdint.h>

// Sources/FuzzTargets/HTTPRequestTarget.swift
void fuzz_http_request(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  fuzz_http_request(bytes, count);
  return 0;
}
