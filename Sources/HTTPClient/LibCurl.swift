import CMooringCurl
import SystemSupport

/// The functions of libcurl. The library is loaded once for each process, when it is first needed.
// SAFETY (@unchecked Sendable): `call` points to functions, which do not change.
final class LibCurl: @unchecked Sendable {
  let call: UnsafePointer<mooring_libcurl>

  /// The library, initialized. Swift's lazy global makes it thread-safe, also before libcurl 7.84.
  private static let result = Result { () throws(HTTPError) in
    let curl = try LibCurl(file: "libcurl.so.4")
    guard curl.call.pointee.curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK else {
      throw HTTPError(.other, "libcurl cannot be initialized")
    }
    return curl
  }

  /// Returns the functions, and loads the library before that if nobody has.
  ///
  /// - Throws: `.libraryMissing`, also in later calls: it is not searched for again.
  static func loaded() throws(HTTPError) -> LibCurl { try result.get() }

  /// The functions, or nil if the library cannot be loaded.
  static var ifAvailable: LibCurl? {
    guard case .success(let curl) = result else { return nil }
    return curl
  }

  init(file: String) throws(HTTPError) {
    let functions = UnsafeMutablePointer<mooring_libcurl>.allocate(capacity: 1)
    functions.initialize(to: mooring_libcurl())
    do throws(LibraryMissing) {
      // SAFETY: the table is allocated; nobody else has it until it is filled.
      try loadLibrary(file) { mooring_libcurl_resolve($0, functions) }
    } catch {
      functions.deallocate()
      throw HTTPError(.libraryMissing, error.message)
    }
    call = UnsafePointer(functions)
  }

  deinit { call.deallocate() }

  func text(_ code: CURLcode) -> String { Self.text(call.pointee.curl_easy_strerror(code)) }

  /// Copies one of libcurl's messages.
  static func text(_ message: UnsafePointer<CChar>?) -> String {
    // SAFETY: libcurl's messages are constant strings.
    message.map { String(cString: $0) } ?? ""
  }
}
