#include "mooring_icu.h"
#include "utf16.h"

#include <string.h>
#include <unicode/ucol.h>
#include <unicode/uenum.h>
#include <unicode/uloc.h>

static int enumerates(UEnumeration *names, const char *name) {
  UErrorCode status = U_ZERO_ERROR;
  int is_found = 0;
  const char *next;
  while (!is_found && (next = uenum_next(names, NULL, &status)) != NULL) {
    is_found = strcmp(next, name) == 0;
  }
  uenum_close(names);
  return is_found;
}

int mooring_collation_is_known(const char *locale, const char *collation) {
  UErrorCode status = U_ZERO_ERROR;
  if (*locale != '\0') {
    // The aliases are names such as zh_TW, for zh_Hant_TW.
    UEnumeration *locales = uloc_openAvailableByType(ULOC_AVAILABLE_WITH_LEGACY_ALIASES, &status);
    if (U_FAILURE(status) || !enumerates(locales, locale)) { return 0; }
  }
  if (collation == NULL) { return 1; }
  UEnumeration *kinds = ucol_getKeywordValuesForLocale("collation", locale, 0, &status);
  return U_SUCCESS(status) && enumerates(kinds, collation);
}

mooring_collator *mooring_collator_open(
  const char *locale, mooring_strength strength, mooring_icu_status *status) {
  UErrorCode code = U_ZERO_ERROR;
  UCollator *collator = ucol_open(locale, &code);
  ucol_setAttribute(collator, UCOL_NUMERIC_COLLATION, UCOL_ON, &code);
  switch (strength) {
  case MOORING_STRENGTH_PRIMARY_WITH_CASE:
    ucol_setAttribute(collator, UCOL_CASE_LEVEL, UCOL_ON, &code);
    // With the strength of letters alone, too.
  case MOORING_STRENGTH_PRIMARY:
    ucol_setAttribute(collator, UCOL_STRENGTH, UCOL_PRIMARY, &code);
    break;
  case MOORING_STRENGTH_SECONDARY:
    ucol_setAttribute(collator, UCOL_STRENGTH, UCOL_SECONDARY, &code);
    break;
  case MOORING_STRENGTH_TERTIARY:
    ucol_setAttribute(collator, UCOL_STRENGTH, UCOL_TERTIARY, &code);
    break;
  }
  *status = code;
  if (U_FAILURE(code)) {
    ucol_close(collator);
    return NULL;
  }
  return (mooring_collator *)collator;
}

void mooring_collator_close(mooring_collator *collator) { ucol_close((UCollator *)collator); }

void mooring_collator_versions(const mooring_collator *collator, char own[20], char root[20]) {
  UVersionInfo version;
  ucol_getVersion((const UCollator *)collator, version);
  u_versionToString(version, own);
  ucol_getUCAVersion((const UCollator *)collator, version);
  u_versionToString(version, root);
}

int mooring_collator_compare(
  const mooring_collator *collator, const void *first, size_t first_length, const void *second,
  size_t second_length) {
  if (first_length > MOORING_ICU_TEXT_BYTES_MAX) { first_length = MOORING_ICU_TEXT_BYTES_MAX; }
  if (second_length > MOORING_ICU_TEXT_BYTES_MAX) { second_length = MOORING_ICU_TEXT_BYTES_MAX; }
  UErrorCode status = U_ZERO_ERROR;
  // ICU takes null for a missing argument, even beside a length of 0.
  int order = ucol_strcollUTF8(
    (const UCollator *)collator, first == NULL ? "" : first, (int32_t)first_length,
    second == NULL ? "" : second, (int32_t)second_length, &status);
  mooring_icu_require(status);
  return order;
}

size_t mooring_collator_sort_key(
  const mooring_collator *collator, const void *text, size_t length, uint8_t *key,
  size_t capacity) {
  mooring_utf16 units;
  mooring_utf16_init_utf8(&units, text, length);
  int32_t key_length = ucol_getSortKey(
    (const UCollator *)collator, units.units, units.count, key,
    capacity > INT32_MAX ? INT32_MAX : (int32_t)capacity);
  mooring_utf16_destroy(&units);
  // A key has its terminator at least.
  if (key_length < 1) { mooring_icu_require(U_MEMORY_ALLOCATION_ERROR); }
  return (size_t)key_length - 1;
}
