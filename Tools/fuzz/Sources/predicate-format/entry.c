#include <stddef.h>
#include <stdint.h>

// Sources/FuzzTargets/PredicateFormatTarget.swift
void fuzz_predicate_format(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  fuzz_predicate_format(bytes, count);
  return 0;
}
