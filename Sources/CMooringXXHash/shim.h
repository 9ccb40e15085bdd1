// Header-only use: nothing of libxxhash is linked, so its version at run time cannot change a stored hash.
#define XXH_INLINE_ALL
#include <xxhash.h>
