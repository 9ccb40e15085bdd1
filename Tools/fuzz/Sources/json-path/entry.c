#include <stddef.h>
#include <stdint.h>

// Sources/FuzzTargets/JSONPathTarget.swift
void fuzz_json_path(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  fuzz_json_path(bytes, count);
  return 0;
}
