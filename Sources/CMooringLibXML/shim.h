#ifndef MOORING_LIBXML_H
#define MOORING_LIBXML_H

// For C only: Debian's libxml2 includes ICU's headers, which conflict with those in Foundation.
// Swift imports CMooringXML.
#include <libxml/parser.h>

#endif
