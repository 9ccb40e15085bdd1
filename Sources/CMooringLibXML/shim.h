#ifndef MOORING_LIBXML_H
#define MOORING_LIBXML_H

// For C only. Debian's libxml2 includes ICU's headers, which contradict those in Swift's Foundation;
// Swift sees CMooringXML.
#include <libxml/parser.h>

#endif
