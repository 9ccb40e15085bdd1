#include "mooring_json.h"

#include <simdjson.h>

bool mooring_utf8_is_well_formed(const void *bytes, size_t count) {
  return count == 0 || simdjson::validate_utf8(static_cast<const char *>(bytes), count);
}
