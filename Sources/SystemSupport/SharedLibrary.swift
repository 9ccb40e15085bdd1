import Glibc

/// The reason why a shared library cannot be used.
package struct LibraryMissing: Error {
  package let message: String
}

/// Loads a shared library, which stays loaded, and finds its functions.
///
/// Libraries that few commands use are loaded when they are first used, and not with the program:
/// to start with libcurl, the dynamic linker needs a third of the instructions of `mooring home`.
///
/// - Parameters:
///   - file: The name with the version of the binary interface, such as `libcurl.so.4`.
///   - resolve: Fills the table of functions that `MOORING_LOADED_LIBRARY` declares. Returns the
///     name of one that the library lacks, or nil.
package func loadLibrary(
  _ file: String, resolve: (UnsafeMutableRawPointer) -> UnsafePointer<CChar>?
) throws(LibraryMissing) {
  // SAFETY: dlerror returns the string of this thread's last failure, which is copied at once.
  guard let library = dlopen(file, RTLD_NOW | RTLD_LOCAL) else {
    throw LibraryMissing(message: dlerror().map { String(cString: $0) } ?? file)
  }
  // SAFETY: the handle is that of a loaded library; the name is a constant string.
  if let name = resolve(library) {
    throw LibraryMissing(message: "\(file) has no function \(String(cString: name))")
  }
}
