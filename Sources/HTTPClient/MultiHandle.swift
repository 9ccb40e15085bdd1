import CMooringCurl

/// A libcurl multi handle: the connections, names and TLS sessions that its transfers share.
// SAFETY (@unchecked Sendable): one thread uses it. Only `wakeUp`, which libcurl allows on any
// thread, may be called from others while the object is retained.
final class MultiHandle: @unchecked Sendable {
  private let curl: LibCurl
  private let pointer: UnsafeMutableRawPointer

  init() throws(HTTPError) {
    curl = try LibCurl.loaded()
    guard let pointer = curl.call.pointee.curl_multi_init() else {
      throw HTTPError(.other, "out of memory")
    }
    self.pointer = pointer
    // The connections kept open for reuse by a run over many feeds.
    guard mooring_curl_multi_set_long(curl.call, pointer, CURLMOPT_MAXCONNECTS, 32) == CURLM_OK
    else {
      _ = curl.call.pointee.curl_multi_cleanup(pointer)
      throw HTTPError(.other, "libcurl refuses CURLMOPT_MAXCONNECTS")
    }
  }

  deinit {
    _ = curl.call.pointee.curl_multi_cleanup(pointer)
  }

  func add(_ handle: EasyHandle) throws(HTTPError) {
    try check(curl.call.pointee.curl_multi_add_handle(pointer, handle.pointer))
  }

  func remove(_ handle: EasyHandle) {
    // It fails only for a handle that is in no multi handle or in another.
    _ = curl.call.pointee.curl_multi_remove_handle(pointer, handle.pointer)
  }

  /// Moves data of all transfers, without waiting.
  ///
  /// - Throws: An error that affects all transfers: none can continue.
  func perform() throws(HTTPError) {
    var running: Int32 = 0
    try check(curl.call.pointee.curl_multi_perform(pointer, &running))
  }

  /// Returns the transfers that have ended since the last call, with their results.
  func completed() -> [(handle: UnsafeMutableRawPointer, code: CURLcode)] {
    var ended: [(UnsafeMutableRawPointer, CURLcode)] = []
    var left: Int32 = 0
    // SAFETY: a message lives until the next call or until its handle is removed; both come after
    // its fields are copied.
    while let message = curl.call.pointee.curl_multi_info_read(pointer, &left) {
      guard message.pointee.msg == CURLMSG_DONE else { continue }
      ended.append((message.pointee.easy_handle, message.pointee.data.result))
    }
    return ended
  }

  /// Waits for the network, a timer of libcurl or ``wakeUp()``.
  ///
  /// - Parameter isIdle: True if there is no transfer.
  func poll(isIdle: Bool) throws(HTTPError) {
    // The timeout is a safety net: libcurl shortens it to its own next timer. An idle process is
    // woken rarely.
    try check(curl.call.pointee.curl_multi_poll(pointer, nil, 0, isIdle ? 60_000 : 1_000, nil))
  }

  /// Ends the current or next ``poll(isIdle:)``. May be called on any thread.
  func wakeUp() {
    // It fails only if its pipe is full, and then the thread is awake.
    _ = curl.call.pointee.curl_multi_wakeup(pointer)
  }

  private func check(_ code: CURLMcode) throws(HTTPError) {
    guard code == CURLM_OK else {
      throw HTTPError(.other, LibCurl.text(curl.call.pointee.curl_multi_strerror(code)))
    }
  }
}
