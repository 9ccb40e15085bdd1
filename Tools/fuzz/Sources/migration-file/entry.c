#include <stddef.h>
#include <stdint.h>

// Sources/FuzzTargets/MigrationFileTarget.swift
void fuzz_migration_file(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  fuzz_migration_file(bytes, count);
  return 0;
}
