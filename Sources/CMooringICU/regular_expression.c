#include "mooring_icu.h"
#include "utf16.h"

#include <stdlib.h>
#include <time.h>
#include <unicode/parseerr.h>
#include <unicode/uregex.h>

/// A second bound on the time, in ICU's own unit of some ten thousand steps, for the case that the
/// clock stands still. Far more than fits into the time that callers allow.
enum { TICKS_MAX = 100000 };

struct mooring_regex {
  URegularExpression *expression;
  int64_t deadline;  // of the monotonic clock, in nanoseconds
};

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/// ICU calls it now and then while it matches.
static UBool U_CALLCONV may_go_on(const void *context, int32_t steps) {
  (void)steps;
  return now() < ((const mooring_regex *)context)->deadline;
}

/// Takes the expression over.
static mooring_regex *create(URegularExpression *expression, UErrorCode status) {
  if (U_FAILURE(status)) {
    uregex_close(expression);
    return NULL;
  }
  mooring_regex *regex = mooring_icu_allocate(sizeof *regex);
  regex->expression = expression;
  regex->deadline = 0;
  return regex;
}

mooring_regex *mooring_regex_open(
  const void *pattern, size_t length, int ignores_case, int32_t *line, int32_t *offset,
  mooring_icu_status *status) {
  UErrorCode code = U_ZERO_ERROR;
  UParseError mistake = { 0 };
  mooring_utf16 units;
  // ICU refuses the empty pattern, which matches the empty text as this one does.
  const char empty[] = "(?:)";
  mooring_utf16_init_utf8(
    &units, length == 0 ? empty : pattern, length == 0 ? sizeof empty - 1 : length);
  URegularExpression *expression = uregex_open(
    units.units, units.count, ignores_case ? UREGEX_CASE_INSENSITIVE : 0, &mistake, &code);
  mooring_utf16_destroy(&units);
  *line = mistake.line;
  *offset = mistake.offset;
  *status = code;
  return create(expression, code);
}

mooring_regex *mooring_regex_clone(const mooring_regex *regex, mooring_icu_status *status) {
  UErrorCode code = U_ZERO_ERROR;
  URegularExpression *expression = uregex_clone(regex->expression, &code);
  *status = code;
  return create(expression, code);
}

void mooring_regex_close(mooring_regex *regex) {
  uregex_close(regex->expression);
  free(regex);
}

mooring_match mooring_regex_matches(
  mooring_regex *regex, const void *text, size_t length, int64_t nanoseconds,
  int32_t stack_bytes, mooring_icu_status *status) {
  UErrorCode code = U_ZERO_ERROR;
  mooring_utf16 units;
  mooring_utf16_init_utf8(&units, text, length);
  regex->deadline = now() + nanoseconds;
  uregex_setMatchCallback(regex->expression, may_go_on, regex, &code);
  uregex_setTimeLimit(regex->expression, TICKS_MAX, &code);
  uregex_setStackLimit(regex->expression, stack_bytes, &code);
  uregex_setText(regex->expression, units.units, units.count, &code);
  UBool matches = uregex_matches(regex->expression, -1, &code);
  mooring_utf16_destroy(&units);  // the next match sets its text before anything reads this one
  *status = code;
  switch (code) {
  case U_REGEX_TIME_OUT:
  case U_REGEX_STOPPED_BY_CALLER:
    return MOORING_MATCH_TOO_LONG;
  case U_REGEX_STACK_OVERFLOW:
    return MOORING_MATCH_TOO_DEEP;
  default:
    return U_FAILURE(code) ? MOORING_MATCH_FAILED
           : matches       ? MOORING_MATCH_YES
                           : MOORING_MATCH_NO;
  }
}
