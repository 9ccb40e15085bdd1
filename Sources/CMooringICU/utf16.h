#pragma once

#include <stddef.h>
#include <unicode/utypes.h>

/// A text in UTF-16: on the stack if it is short, as texts that are compared are.
typedef struct mooring_utf16 {
  UChar *units;
  int32_t count;
  int32_t capacity;
  UChar inlined[512];
} mooring_utf16;

/// An empty text with room for so many units.
void mooring_utf16_init(mooring_utf16 *text, int32_t capacity);

void mooring_utf16_destroy(mooring_utf16 *text);

/// Ends the process if ICU had no memory. No other failure can come out of the calls made here.
void mooring_icu_require(UErrorCode status);

/// `malloc` that ends the process instead of returning null.
void *mooring_icu_allocate(size_t size);

/// Reads UTF-8; ill-formed sequences become U+FFFD.
void mooring_utf16_init_utf8(mooring_utf16 *text, const void *bytes, size_t length);
