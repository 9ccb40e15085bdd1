#ifndef MOORING_YAML_H
#define MOORING_YAML_H

#include <yaml.h>

#endif
