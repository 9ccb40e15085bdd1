#include <stddef.h>
#include <stdint.h>

// Sources/FuzzTargets/JobPayloadTarget.swift
void fuzz_job_payload(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  fuzz_job_payload(bytes, count);
  return 0;
}
