#include <stddef.h>
#include <stdint.h>

// Sources/FuzzTargets/HTTPResponseTarget.swift
void fuzz_http_response(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  fuzz_http_response(bytes, count);
  return 0;
}
