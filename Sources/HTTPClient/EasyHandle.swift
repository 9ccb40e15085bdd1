import CMooringCurl

/// A libcurl easy handle and the memory that its options point to. Used by one thread at a time.
final class EasyHandle {
  let pointer: UnsafeMutableRawPointer
  private let curl: LibCurl
  private let errorText: UnsafeMutablePointer<CChar>
  private var headers: UnsafeMutablePointer<curl_slist>?

  init() throws(HTTPError) {
    curl = try LibCurl.loaded()
    guard let pointer = curl.call.pointee.curl_easy_init() else {
      throw HTTPError(.other, "out of memory")
    }
    self.pointer = pointer
    errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    // SAFETY: the buffer has the size that libcurl asks for and is freed after the handle.
    try check(mooring_curl_set_error_buffer(curl.call, pointer, errorText), CURLOPT_ERRORBUFFER)
  }

  // The owner has removed the handle from its multi handle before.
  deinit {
    // SAFETY: libcurl uses the list and the buffer up to here; both are freed once, by us.
    curl.call.pointee.curl_easy_cleanup(pointer)
    curl.call.pointee.curl_slist_free_all(headers)
    errorText.deallocate()
  }

  // MARK: Options

  func set(_ option: CURLoption, _ value: Int) throws(HTTPError) {
    try check(mooring_curl_set_long(curl.call, pointer, option, value), option)
  }

  func set(_ option: CURLoption, offset value: Int) throws(HTTPError) {
    try check(mooring_curl_set_offset(curl.call, pointer, option, curl_off_t(value)), option)
  }

  /// Sets a string option. libcurl copies the string.
  func set(_ option: CURLoption, _ value: String?) throws(HTTPError) {
    try check(mooring_curl_set_string(curl.call, pointer, option, value), option)
  }

  /// Sets the pointer that libcurl passes to the option's callback.
  func set(_ option: CURLoption, context: UnsafeMutableRawPointer) throws(HTTPError) {
    try check(mooring_curl_set_pointer(curl.call, pointer, option, context), option)
  }

  func set(_ option: CURLoption, receiver: curl_write_callback) throws(HTTPError) {
    try check(mooring_curl_set_receiver(curl.call, pointer, option, receiver), option)
  }

  func setSocketOpener(_ opener: curl_opensocket_callback) throws(HTTPError) {
    try check(
      mooring_curl_set_socket_opener(curl.call, pointer, opener), CURLOPT_OPENSOCKETFUNCTION)
  }

  func setRequestGate(_ gate: curl_prereq_callback) throws(HTTPError) {
    try check(mooring_curl_set_request_gate(curl.call, pointer, gate), CURLOPT_PREREQFUNCTION)
  }

  /// Sets the request's headers. May be called once.
  func setHeaders(_ lines: [String]) throws(HTTPError) {
    precondition(headers == nil, "the old list may still be in use")
    for line in lines {
      // SAFETY: curl_slist_append copies the line; on failure it leaves the list as it was.
      guard let longer = curl.call.pointee.curl_slist_append(headers, line) else {
        throw HTTPError(.other, "out of memory")
      }
      headers = longer
    }
    // SAFETY: libcurl keeps the pointer; the list lives until the handle is cleaned up.
    try check(mooring_curl_set_headers(curl.call, pointer, headers), CURLOPT_HTTPHEADER)
  }

  private func check(_ code: CURLcode, _ option: CURLoption) throws(HTTPError) {
    guard code == CURLE_OK else {
      throw HTTPError(.other, "libcurl option \(option.rawValue): \(curl.text(code))")
    }
  }

  // MARK: Results

  /// Returns a result of the transfer; 0 if libcurl does not know it.
  func get(_ info: CURLINFO) -> Int {
    var value = 0
    return mooring_curl_get_long(curl.call, pointer, info, &value) == CURLE_OK ? value : 0
  }

  func get(offset info: CURLINFO) -> Int {
    var value: curl_off_t = 0
    return mooring_curl_get_offset(curl.call, pointer, info, &value) == CURLE_OK ? Int(value) : 0
  }

  func get(string info: CURLINFO) -> String? {
    var value: UnsafeMutablePointer<CChar>?
    // SAFETY: the string belongs to the handle, which lives, and is copied at once.
    guard mooring_curl_get_string(curl.call, pointer, info, &value) == CURLE_OK, let value else {
      return nil
    }
    return String(cString: value)
  }

  /// Returns libcurl's message about the failure of the transfer.
  func message(for code: CURLcode) -> String {
    let text = String(cString: errorText)
    return text.isEmpty ? curl.text(code) : text
  }
}
