#include "mooring_json.h"

#include <simdjson.h>

// The implementation for this processor. It is looked up once, because texts are short.
static const simdjson::implementation &implementation() {
  static const simdjson::implementation *const chosen =
      simdjson::get_available_implementations().detect_best_supported();
  return *chosen;
}

bool mooring_utf8_is_well_formed(const void *bytes, size_t count) {
  return count == 0 || implementation().validate_utf8(static_cast<const char *>(bytes), count);
}
