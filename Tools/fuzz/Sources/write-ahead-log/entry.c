#include <stddef.h>
#include <stdint.h>

// Sources/FuzzTargets/WriteAheadLogTarget.swift
void fuzz_write_ahead_log(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  fuzz_write_ahead_log(bytes, count);
  return 0;
}
