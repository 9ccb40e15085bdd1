import CMooringMicroHTTPD
import SystemSupport

/// The functions of GNU libmicrohttpd. The library is loaded once for each process, when its first
/// server starts.
// @unchecked: `call` points to functions, which do not change.
final class LibMicroHTTPD: @unchecked Sendable {
  let call: UnsafePointer<mooring_microhttpd>

  private static let result = Result { () throws(WebServerError) in
    try LibMicroHTTPD(file: "libmicrohttpd.so.12")
  }

  /// Returns the functions, and loads the library before that if nobody has.
  ///
  /// - Throws: `.libraryMissing`, also in later calls: it is not searched for again.
  static func loaded() throws(WebServerError) -> LibMicroHTTPD { try result.get() }

  /// Loads a library, which stays loaded.
  init(file: String) throws(WebServerError) {
    let functions = UnsafeMutablePointer<mooring_microhttpd>.allocate(capacity: 1)
    functions.initialize(to: mooring_microhttpd())
    do throws(LibraryMissing) {
      // SAFETY: the table is allocated; nobody else has it until it is filled.
      try loadLibrary(file) { mooring_microhttpd_resolve($0, functions) }
    } catch {
      functions.deallocate()
      throw WebServerError(.libraryMissing, error.message)
    }
    call = UnsafePointer(functions)
  }

  deinit { call.deallocate() }
}
