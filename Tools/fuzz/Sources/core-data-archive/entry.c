#include <stddef.h>
#include <stdint.h>

// Sources/FuzzTargets/CoreDataArchiveTarget.swift
void fuzz_core_data_archive(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  fuzz_core_data_archive(bytes, count);
  return 0;
}
