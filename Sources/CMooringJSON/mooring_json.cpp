#include "mooring_json.h"
