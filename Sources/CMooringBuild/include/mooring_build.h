#ifndef MOORING_BUILD_H
#define MOORING_BUILD_H

// What a package was built from and for. Without Tools/package all texts are empty.

// The commit, in hexadecimal.
const char *_Nonnull mooring_build_commit(void);
// The version of the Swift toolchain.
const char *_Nonnull mooring_build_swift(void);
// The folder of the store for commands that name none.
const char *_Nonnull mooring_build_store(void);

#endif
