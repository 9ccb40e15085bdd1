#pragma once

// Collation, folding and regular expressions of ICU over UTF-8, for Swift.
//
// ICU's C functions bear the version of the library in their names, by macros that Swift cannot
// see; and most of them want UTF-16. So all of ICU stands behind the functions of this file, and
// no header of ICU is needed to include it.
//
// All texts are UTF-8 with a length, not terminated. Ill-formed sequences read as U+FFFD, one for
// each maximal subpart, as the Unicode Standard recommends. Of a text, the first
// MOORING_ICU_TEXT_BYTES_MAX bytes count.
//
// Where memory is short the process ends, as a Swift program does.

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// More than a record of a store holds.
enum { MOORING_ICU_TEXT_BYTES_MAX = 64 << 20 };

/// What ICU answered: zero or a warning, which is negative, is success.
typedef int32_t mooring_icu_status;

/// The name ICU gives to the status, such as "U_REGEX_MISMATCHED_PAREN"; never null.
const char *mooring_icu_status_name(mooring_icu_status status);

/// The release of ICU and the version of Unicode that it implements, such as "72.1" and "15.0".
void mooring_icu_versions(char icu[20], char unicode[20]);

// Collation

typedef struct mooring_collator mooring_collator;

typedef enum mooring_strength {
  MOORING_STRENGTH_PRIMARY,           // letters
  MOORING_STRENGTH_PRIMARY_WITH_CASE, // letters and their case
  MOORING_STRENGTH_SECONDARY,         // letters and their accents
  MOORING_STRENGTH_TERTIARY           // letters, accents, case
} mooring_strength;

/// 1 if ICU has data for exactly this locale and, where `collation` is not null, has that kind of
/// collation for it. `locale` is a locale's name without keywords; "" is the root. O(locales).
int mooring_collation_is_known(const char *locale, const char *collation);

/// Opens the collator of a locale's full name, keywords included. Numbers compare as numbers.
/// Returns null and sets the status on failure. The collator is never changed afterwards, so any
/// threads may use it at once.
mooring_collator *mooring_collator_open(
  const char *locale, mooring_strength strength, mooring_icu_status *status);

void mooring_collator_close(mooring_collator *collator);

/// The versions of the collator's tailoring and of its root table; they change with the order.
void mooring_collator_versions(const mooring_collator *collator, char own[20], char root[20]);

/// Less than, equal to or greater than 0 as the first text stands before, with or after the second.
int mooring_collator_compare(
  const mooring_collator *collator, const void *first, size_t first_length, const void *second,
  size_t second_length);

/// Writes the sort key without its terminator, if it fits. Returns its length.
size_t mooring_collator_sort_key(
  const mooring_collator *collator, const void *text, size_t length, uint8_t *key,
  size_t capacity);

// Folding

enum {
  MOORING_FOLD_CASE = 1,      // full case folding, default mappings
  MOORING_FOLD_DIACRITICS = 2 // canonical decomposition without nonspacing marks (Mn)
};

/// Writes the folded text, diacritics first, if it fits. Returns its length.
size_t mooring_fold(
  const void *text, size_t length, unsigned folding, uint8_t *folded, size_t capacity);

// Regular expressions

/// A compiled pattern, and what matching it needs. It serves one thread at a time, but any threads
/// may copy one that no thread matches with.
typedef struct mooring_regex mooring_regex;

typedef enum mooring_match {
  MOORING_MATCH_NO,
  MOORING_MATCH_YES,
  MOORING_MATCH_TOO_LONG, // the time is over
  MOORING_MATCH_TOO_DEEP, // the stack is full
  MOORING_MATCH_FAILED    // see the status
} mooring_match;

/// Compiles a pattern. On failure returns null, sets the status, and sets `line` (from 1, or 0 if
/// it is not known) and `offset` (code points of that line before the mistake).
mooring_regex *mooring_regex_open(
  const void *pattern, size_t length, int ignores_case, int32_t *line, int32_t *offset,
  mooring_icu_status *status);

/// Copies a compiled pattern; the two share what is compiled. Null and the status on failure.
mooring_regex *mooring_regex_clone(const mooring_regex *regex, mooring_icu_status *status);

void mooring_regex_close(mooring_regex *regex);

/// Whether the pattern matches the whole text, within so many nanoseconds and bytes of stack.
mooring_match mooring_regex_matches(
  mooring_regex *regex, const void *text, size_t length, int64_t nanoseconds,
  int32_t stack_bytes, mooring_icu_status *status);

#ifdef __cplusplus
}
#endif
