#include "mooring_icu.h"
#include "utf16.h"

#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/ustring.h>
#include <unicode/utf16.h>

/// Canonical decomposition lengthens no text by more than this factor, in UTF-16 (UAX 15, table 8).
enum { DECOMPOSITION_FACTOR_MAX = 4 };

/// Full case folding lengthens no text by more than this factor, in UTF-16 (Unicode, table 5-1).
enum { CASE_FOLDING_FACTOR_MAX = 3 };

static const UNormalizer2 *decomposition(void) {
  UErrorCode status = U_ZERO_ERROR;
  const UNormalizer2 *result = unorm2_getNFDInstance(&status);
  mooring_icu_require(status);
  return result;
}

static void decompose(const mooring_utf16 *text, mooring_utf16 *result) {
  UErrorCode status = U_ZERO_ERROR;
  mooring_utf16_init(result, text->count * DECOMPOSITION_FACTOR_MAX);
  result->count = unorm2_normalize(
    decomposition(), text->units, text->count, result->units, result->capacity, &status);
  mooring_icu_require(status);
}

static int is_decomposed(const mooring_utf16 *text) {
  UErrorCode status = U_ZERO_ERROR;
  UBool result = unorm2_isNormalized(decomposition(), text->units, text->count, &status);
  mooring_icu_require(status);
  return result;
}

static void remove_marks(mooring_utf16 *text) {
  const int32_t count = text->count;
  text->count = 0;
  for (int32_t index = 0; index < count;) {
    UChar32 scalar;
    U16_NEXT(text->units, index, count, scalar);
    if (u_charType(scalar) == U_NON_SPACING_MARK) { continue; }
    U16_APPEND_UNSAFE(text->units, text->count, scalar);  // never ahead of the reading
  }
}

static void fold_case(const mooring_utf16 *text, mooring_utf16 *result) {
  UErrorCode status = U_ZERO_ERROR;
  mooring_utf16_init(result, text->count * CASE_FOLDING_FACTOR_MAX);
  result->count = u_strFoldCase(
    result->units, result->capacity, text->units, text->count, U_FOLD_CASE_DEFAULT, &status);
  mooring_icu_require(status);
}

size_t mooring_fold(
  const void *text, size_t length, unsigned folding, uint8_t *folded, size_t capacity) {
  mooring_utf16 stages[4];
  mooring_utf16 *last = stages;
  mooring_utf16_init_utf8(last, text, length);
  // Marks first: among the letters that case folding changes are compositions, and one mark that
  // it would make a letter of (U+0345). After this order, folding again changes nothing.
  if (folding & MOORING_FOLD_DIACRITICS) {
    decompose(last, last + 1);
    last += 1;
    remove_marks(last);
    // A mark may have kept other ones, which are not removed (Mc), from standing in their order.
    if (!is_decomposed(last)) {
      decompose(last, last + 1);
      last += 1;
    }
  }
  if (folding & MOORING_FOLD_CASE) {
    fold_case(last, last + 1);
    last += 1;
  }

  UErrorCode status = U_ZERO_ERROR;
  int32_t count = 0;
  u_strToUTF8(
    (char *)folded, capacity > INT32_MAX ? INT32_MAX : (int32_t)capacity, &count, last->units,
    last->count, &status);
  if (status != U_BUFFER_OVERFLOW_ERROR) { mooring_icu_require(status); }
  while (last >= stages) { mooring_utf16_destroy(last--); }
  return (size_t)count;
}
