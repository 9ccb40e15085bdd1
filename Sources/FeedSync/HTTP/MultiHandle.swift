import CMooringCurl

/// A libcurl multi handle: the connections, names and TLS sessions that its transfers share.
// SAFETY (@unchecked Sendable): one thread uses it; only `wakeUp`, which libcurl makes for that,
// may be called from others, while somebody holds the object.
final class MultiHandle: @unchecked Sendable {
  private let pointer: UnsafeMutableRawPointer

  init() throws(HTTPError) {
    guard globalInitialization == CURLE_OK, let pointer = curl_multi_init() else {
      throw HTTPError(.other, "libcurl cannot be initialized")
    }
    self.pointer = pointer
    // Kept for reuse: what a run over many feeds comes back to.
    guard mooring_curl_multi_set_long(pointer, CURLMOPT_MAXCONNECTS, 32) == CURLM_OK else {
      curl_multi_cleanup(pointer)
      throw HTTPError(.other, "libcurl refuses CURLMOPT_MAXCONNECTS")
    }
  }

  deinit {
    curl_multi_cleanup(pointer)
  }

  func add(_ handle: EasyHandle) throws(HTTPError) {
    try check(curl_multi_add_handle(pointer, handle.pointer))
  }

  func remove(_ handle: EasyHandle) {
    // It fails only for a handle that is in no multi handle or in another.
    curl_multi_remove_handle(pointer, handle.pointer)
  }

  /// Moves all transfers on. An error is none of a single transfer's: none can go on.
  func perform() throws(HTTPError) {
    var running: Int32 = 0
    try check(curl_multi_perform(pointer, &running))
  }

  /// The transfers that have ended since the last call, with their results.
  func completed() -> [(handle: UnsafeMutableRawPointer, code: CURLcode)] {
    var ended: [(UnsafeMutableRawPointer, CURLcode)] = []
    var left: Int32 = 0
    // SAFETY: a message lives until the next call or until its handle is removed; both come after
    // its fields are copied.
    while let message = curl_multi_info_read(pointer, &left) {
      guard message.pointee.msg == CURLMSG_DONE else { continue }
      ended.append((message.pointee.easy_handle, message.pointee.data.result))
    }
    return ended
  }

  /// Waits for the network, a timer of libcurl or ``wakeUp()``.
  ///
  /// - Parameter isIdle: There is no transfer.
  func poll(isIdle: Bool) throws(HTTPError) {
    // The timeout is a safety net only: libcurl shortens it to its own next timer. A process that has
    // nothing to transfer is not woken for it.
    try check(curl_multi_poll(pointer, nil, 0, isIdle ? 60_000 : 1_000, nil))
  }

  func wakeUp() {
    // It fails only when its pipe is full, and then the thread is awake.
    curl_multi_wakeup(pointer)
  }

  private func check(_ code: CURLMcode) throws(HTTPError) {
    guard code == CURLM_OK else {
      throw HTTPError(.other, String(cString: curl_multi_strerror(code)))
    }
  }
}

/// Once per process, before any other call. CURL_GLOBAL_ALL is thread-safe in libcurl 7.84 and
/// later, but Swift's lazy global makes it so anyway.
private let globalInitialization = curl_global_init(Int(CURL_GLOBAL_ALL))
