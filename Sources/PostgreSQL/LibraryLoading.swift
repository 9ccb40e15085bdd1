import CMooringPostgreSQL
import Glibc
import SystemSupport

/// The functions of libpq. The library is loaded once for each process, when it is first needed:
/// programs that connect to no server do not pay for it.
// @unchecked: `call` holds pointers to functions and does not change.
final class LibPQ: @unchecked Sendable {
  let call: mooring_libpq

  private static let result = Result { () throws(PostgreSQLError) in try LibPQ(file: "libpq.so.5") }

  /// Returns the functions, and loads the library before that if nobody has.
  ///
  /// - Throws: `.libraryMissing`, also in later calls: it is not searched for again.
  static func loaded() throws(PostgreSQLError) -> LibPQ { try result.get() }

  /// Loads a library, which stays loaded.
  init(file: String) throws(PostgreSQLError) {
    var functions = mooring_libpq()
    do throws(LibraryMissing) {
      try loadLibrary(file) { mooring_libpq_resolve($0, &functions) }
    } catch {
      throw Self.missing(error.message)
    }
    guard functions.PQlibVersion() >= Self.versionMin, functions.PQisthreadsafe() == 1 else {
      throw Self.missing("\(file) is of version \(functions.PQlibVersion() / 10_000)")
    }
    call = functions
  }

  /// The first version with pipelines.
  private static let versionMin: Int32 = 140_000

  private static func missing(_ message: String) -> PostgreSQLError {
    PostgreSQLError(.libraryMissing, message)
  }
}

extension LibPQ {
  /// Copies a string of libpq, up to a limit: some come from the server.
  static func text(_ string: UnsafePointer<CChar>?, bytesMax: Int = 8_192) -> String {
    guard let string else { return "" }
    // SAFETY: the caller passes a string that ends with zero, so that strnlen reads no further.
    let bytes = UnsafeRawBufferPointer(start: string, count: strnlen(string, bytesMax))
    var text = String(decoding: bytes, as: UTF8.self)
    while text.last?.isNewline == true { text.removeLast() }
    return text
  }
}
