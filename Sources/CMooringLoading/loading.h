#ifndef MOORING_LOADING_H
#define MOORING_LOADING_H

#include <dlfcn.h>
#include <stddef.h>

// A library whose functions are found when it is loaded, so that a program that does not use it
// does not wait for it. The header of the library is there when Mooring is built; its declarations
// give each pointer its type.
//
//     #define MOORING_LIBCURL_FUNCTIONS(X) X(curl_easy_init) X(curl_easy_cleanup)
//     MOORING_LOADED_LIBRARY(mooring_libcurl, MOORING_LIBCURL_FUNCTIONS)
//
// declares `struct mooring_libcurl` with a pointer for each function, and
// `mooring_libcurl_resolve`, which fills it from a loaded library and returns the name of a
// function that the library lacks, or NULL.
#define MOORING_LOADED_LIBRARY(type, FUNCTIONS)                              \
  struct type {                                                              \
    FUNCTIONS(MOORING_LOADED_FIELD)                                          \
  };                                                                         \
  static inline const char *_Nullable type##_resolve(                        \
      void *_Nonnull library, struct type *_Nonnull functions) {             \
    FUNCTIONS(MOORING_LOADED_RESOLVE)                                        \
    return NULL;                                                             \
  }

#define MOORING_LOADED_FIELD(name) __typeof__(&name) _Null_unspecified name;
#define MOORING_LOADED_RESOLVE(name)                    \
  *(void **)&functions->name = dlsym(library, #name);   \
  if ((functions->name) == NULL) return #name;

#endif
