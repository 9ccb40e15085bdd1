#include "utf16.h"

#include "mooring_icu.h"

#include <stdio.h>
#include <stdlib.h>
#include <unicode/uchar.h>
#include <unicode/ustring.h>
#include <unicode/uversion.h>

void mooring_utf16_init_utf8(mooring_utf16 *text, const void *bytes, size_t length) {
  if (length > MOORING_ICU_TEXT_BYTES_MAX) { length = MOORING_ICU_TEXT_BYTES_MAX; }
  mooring_utf16_init(text, (int32_t)length);  // no byte becomes more than one unit
  if (length == 0) { return; }
  UErrorCode status = U_ZERO_ERROR;
  u_strFromUTF8WithSub(
    text->units, text->capacity, &text->count, bytes, (int32_t)length, 0xFFFD, NULL, &status);
  mooring_icu_require(status);
}

void mooring_utf16_init(mooring_utf16 *text, int32_t capacity) {
  const int32_t inlined = sizeof text->inlined / sizeof text->inlined[0];
  text->count = 0;
  text->capacity = capacity > inlined ? capacity : inlined;
  text->units = capacity > inlined ? mooring_icu_allocate((size_t)capacity * sizeof(UChar))
                                   : text->inlined;
}

void mooring_utf16_destroy(mooring_utf16 *text) {
  if (text->units != text->inlined) { free(text->units); }
}

void *mooring_icu_allocate(size_t size) {
  void *memory = malloc(size);
  if (memory == NULL) { mooring_icu_require(U_MEMORY_ALLOCATION_ERROR); }
  return memory;
}

void mooring_icu_require(UErrorCode status) {
  if (U_SUCCESS(status)) { return; }
  fprintf(stderr, "ICU failed: %s\n", u_errorName(status));
  abort();
}

const char *mooring_icu_status_name(mooring_icu_status status) {
  return u_errorName((UErrorCode)status);
}

void mooring_icu_versions(char icu[20], char unicode[20]) {
  UVersionInfo version;
  u_getVersion(version);
  u_versionToString(version, icu);
  u_getUnicodeVersion(version);
  u_versionToString(version, unicode);
}
