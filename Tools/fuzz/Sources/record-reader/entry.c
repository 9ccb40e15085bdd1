#include <stddef.h>
#include <stdint.h>

// Sources/FuzzTargets/RecordReaderTarget.swift
void fuzz_record_reader(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  fuzz_record_reader(bytes, count);
  return 0;
}
