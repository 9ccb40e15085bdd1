#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

// Sources/FuzzTargets/HubEntryTarget.swift
void fuzz_hub_entry(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  fuzz_hub_entry(bytes, count);
  return 0;
}

// Called when LMDB finds a damaged page that was thought to be sound: a finding, and not the end.
void _exit(int status) { abort(); }
