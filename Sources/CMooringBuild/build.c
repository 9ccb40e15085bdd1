#include "mooring_build.h"

const char *mooring_build_commit(void) { return MOORING_COMMIT; }
const char *mooring_build_swift(void) { return MOORING_SWIFT; }
const char *mooring_build_store(void) { return MOORING_STORE; }
