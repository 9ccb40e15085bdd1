import CMooringCurl
import Glibc
import Synchronization

/// One request to one URL, without redirects and repetitions: libcurl's easy handle with its
/// options, and the part of the answer that has arrived.
///
/// A task creates it, ``TransferLoop`` runs it on its thread, then the task reads the result.
/// libcurl calls back on the loop's thread only, with a pointer to this object, which the loop
/// therefore retains until the handle has left the multi handle.
// SAFETY (@unchecked Sendable): one thread uses it at a time. The task does before it passes it to
// the loop and after the loop has resumed it; the loop's thread does in between. Only
// `isCancelled`, which is atomic, may be used at any time.
final class Transfer: @unchecked Sendable {
  let url: WebURL
  let handle: EasyHandle
  private let route: Route
  private let decodedBytesMax: Int
  private let usesProxy: Bool
  private var collector = HeaderCollector()
  private var body: PaddedBuffer?
  private var isTooLarge = false
  private var hasRefusedAddress = false
  /// The task that waits for the result, set before the loop gets the transfer.
  var continuation: CheckedContinuation<Result<HTTPResponse, HTTPError>, Never>?
  private let cancellation = Atomic(false)

  /// Prepares the next transfer of the route.
  init(_ route: Route, _ configuration: CurlTransport.Configuration) throws(HTTPError) {
    url = route.url
    self.route = route
    usesProxy = configuration.proxy != nil && !configuration.directHosts.contains(url.origin.host)
    decodedBytesMax = max(0, route.decodedBytesMax)
    body = PaddedBuffer(countMax: decodedBytesMax)
    handle = try EasyHandle()
    try setRequest(route, configuration)
    try setLimits(route, configuration)
    try setNetwork(configuration)
    try setCallbacks()
  }

  // MARK: Options

  private func setRequest(
    _ route: Route, _ configuration: CurlTransport.Configuration
  ) throws(HTTPError) {
    try handle.set(CURLOPT_URL, url.text)
    try handle.set(CURLOPT_USERAGENT, configuration.userAgent)
    var lines = route.headers.map {
      $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)"
    }
    if route.acceptsCompression {
      try handle.set(CURLOPT_ACCEPT_ENCODING, "")  // Everything that libcurl can decode.
    } else {
      lines.append("Accept-Encoding: identity")
    }
    try handle.setHeaders(lines)
    if let credentials = route.credentials {
      try handle.set(CURLOPT_USERNAME, credentials.user)
      try handle.set(CURLOPT_PASSWORD, credentials.password)
    }
  }

  private func setLimits(
    _ route: Route, _ configuration: CurlTransport.Configuration
  ) throws(HTTPError) {
    // Refuses an announced length early. `receive` enforces the limit, because libcurl does not
    // apply this one to chunked and compressed bodies.
    try handle.set(CURLOPT_MAXFILESIZE_LARGE, offset: max(1, route.decodedBytesMax))
    try handle.set(CURLOPT_TIMEOUT_MS, timeoutMilliseconds(route.timeLeft))
    try handle.set(CURLOPT_CONNECTTIMEOUT_MS, timeoutMilliseconds(configuration.connectTimeout))
    if route.endsSlowTransfers {
      try handle.set(CURLOPT_LOW_SPEED_LIMIT, configuration.slowestBytesPerSecond)
      try handle.set(CURLOPT_LOW_SPEED_TIME, configuration.slowSecondsMax)
    }
    try handle.set(CURLOPT_FOLLOWLOCATION, 0)
    try handle.set(CURLOPT_HTTP09_ALLOWED, 0)
  }

  private func setNetwork(_ configuration: CurlTransport.Configuration) throws(HTTPError) {
    try handle.set(CURLOPT_NOSIGNAL, 1)
    try handle.set(CURLOPT_PROTOCOLS_STR, "http,https")
    try handle.set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https")
    try handle.set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
    try handle.set(CURLOPT_SSL_VERIFYPEER, 1)
    try handle.set(CURLOPT_SSL_VERIFYHOST, 2)
    try handle.set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
    try handle.set(CURLOPT_TCP_KEEPALIVE, 1)
    try handle.set(CURLOPT_TCP_KEEPIDLE, 30)
    try handle.set(CURLOPT_TCP_KEEPINTVL, 15)
    try handle.set(CURLOPT_MAXLIFETIME_CONN, 600)
    // Both are always set, because libcurl would read them from the environment.
    try handle.set(CURLOPT_PROXY, configuration.proxy ?? "")
    try handle.set(CURLOPT_NOPROXY, usesProxy ? "" : "*")
    try handle.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
  }

  /// SAFETY: the context is this object, unretained. The loop retains it until the easy handle
  /// has left the multi handle, and libcurl calls back only before that.
  private func setCallbacks() throws(HTTPError) {
    let context = Unmanaged.passUnretained(self).toOpaque()
    try handle.set(
      CURLOPT_WRITEFUNCTION,
      receiver: { bytes, size, count, context in
        let received = UnsafeRawBufferPointer(start: bytes, count: size * count)
        return Transfer.from(context).receive(received) ? received.count : writeError
      })
    try handle.set(CURLOPT_WRITEDATA, context: context)
    try handle.set(
      CURLOPT_HEADERFUNCTION,
      receiver: { bytes, size, count, context in
        let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
        Transfer.from(context).collector.append(line: line)
        return line.count
      })
    try handle.set(CURLOPT_HEADERDATA, context: context)
    try handle.setSocketOpener { context, _, address in
      guard let address else { return CURL_SOCKET_BAD }
      return Transfer.from(context).openSocket(to: address)
    }
    try handle.set(CURLOPT_OPENSOCKETDATA, context: context)
    try handle.setRequestGate { context, remoteAddress, _, _, _ in
      let isAllowed = Transfer.from(context).allows(
        remoteAddress.flatMap { IPAddress(text: String(cString: $0)) })
      return isAllowed ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
    }
    try handle.set(CURLOPT_PREREQDATA, context: context)
  }

  /// SAFETY: libcurl passes the pointer that `setCallbacks` set, during the object's life.
  private static func from(_ context: UnsafeMutableRawPointer?) -> Transfer {
    Unmanaged<Transfer>.fromOpaque(context!).takeUnretainedValue()
  }

  // MARK: Callbacks

  /// Stores decoded bytes. Returns false if they exceed the limit.
  private func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
    if body!.append(bytes) { return true }
    isTooLarge = true  // libcurl reports our refusal as it does its own decoding errors.
    return false
  }

  /// Opens a socket, if the address is allowed. Only here is it known, whatever form the URL has.
  private func openSocket(to address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
    // SAFETY: libcurl passes a curl_sockaddr whose `addr` holds `addrlen` bytes of a socket
    // address, which may be more than the declared size of `addr`.
    let bytes = UnsafeRawBufferPointer(
      start: UnsafeRawPointer(address).advanced(
        by: MemoryLayout<curl_sockaddr>.offset(of: \.addr)!),
      count: Int(address.pointee.addrlen))
    guard allows(IPAddress(socketAddress: bytes)) else { return CURL_SOCKET_BAD }
    return socket(
      address.pointee.family, address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue),
      address.pointee.protocol)
  }

  /// Returns false for an address that the route does not allow. With a proxy only the
  /// proxy's address is visible, which the operator has configured.
  private func allows(_ address: IPAddress?) -> Bool {
    if usesProxy || route.allows(address) { return true }
    hasRefusedAddress = true
    return false
  }

  // MARK: Result

  /// True if the caller no longer waits for the result. May be read on any thread.
  var isCancelled: Bool { cancellation.load(ordering: .acquiring) }

  /// Asks the loop to end the transfer. May be called on any thread.
  func requestCancellation() { cancellation.store(true, ordering: .releasing) }

  /// Resumes the task with libcurl's result. Called once.
  func finish(_ code: CURLcode) {
    if code == CURLE_OK { return resume(.success(response())) }
    let kind = errorCode(code)
    fail(HTTPError(kind, "\(url.shown): \(reason(kind) ?? handle.message(for: code))"))
  }

  /// Returns the reason where libcurl's own message would mislead.
  private func reason(_ kind: HTTPError.Code) -> String? {
    switch kind {
    case .tooLarge: "more than \(sizeText(decodedBytesMax))"
    case .headerTooLarge: "more than 300 KiB, or a line of more than 100 KiB"
    default: nil
    }
  }

  func cancel() { fail(HTTPError(.cancelled, url.shown)) }

  func fail(_ error: HTTPError) { resume(.failure(error)) }

  private func resume(_ result: Result<HTTPResponse, HTTPError>) {
    continuation.take()?.resume(returning: result)
  }

  private func response() -> HTTPResponse {
    HTTPResponse(
      status: handle.get(CURLINFO_RESPONSE_CODE), headers: collector.headers,
      body: PaddedBytes(body.take() ?? PaddedBuffer(countMax: 0)), effectiveURL: url.text,
      retryAfter: retryAfterSeconds(
        in: collector.headers, localSeconds: handle.get(offset: CURLINFO_RETRY_AFTER)))
  }

  /// The absolute target, if the answer is a redirect that is followed.
  var redirectTarget: String? {
    guard [301, 302, 303, 307, 308].contains(handle.get(CURLINFO_RESPONSE_CODE)) else { return nil }
    return handle.get(string: CURLINFO_REDIRECT_URL)
  }

  /// The peer's address; nil if there was no connection, or one to a proxy.
  var address: IPAddress? { usesProxy ? nil : peer.flatMap(IPAddress.init(text:)) }

  private var peer: String? { handle.get(string: CURLINFO_PRIMARY_IP) }

  /// The bytes of headers and body as transferred.
  var wireBytes: Int {
    handle.get(CURLINFO_HEADER_SIZE) + handle.get(offset: CURLINFO_SIZE_DOWNLOAD_T)
  }

  /// The time since the transfer started, the wait for a free connection left out.
  var duration: Duration { .microseconds(handle.get(offset: CURLINFO_TOTAL_TIME_T)) }

  /// True if the connection was open already.
  var isReused: Bool { peer?.isEmpty == false && handle.get(CURLINFO_NUM_CONNECTS) == 0 }

  /// `1.1` or `2`; nil if there was no answer.
  var version: String? {
    switch handle.get(CURLINFO_HTTP_VERSION) {
    case CURL_HTTP_VERSION_1_0: "1.0"
    case CURL_HTTP_VERSION_1_1: "1.1"
    case CURL_HTTP_VERSION_2_0: "2"
    case CURL_HTTP_VERSION_3: "3"
    default: nil
    }
  }

  private func errorCode(_ code: CURLcode) -> HTTPError.Code {
    switch code {
    case CURLE_WRITE_ERROR: isTooLarge ? .tooLarge : .badEncoding
    case CURLE_BAD_CONTENT_ENCODING: .badEncoding
    case CURLE_FILESIZE_EXCEEDED: .tooLarge
    // libcurl reports so a line of the header that is longer than its buffer.
    case CURLE_OUT_OF_MEMORY where peer?.isEmpty == false: .headerTooLarge
    case CURLE_RECV_ERROR where handle.get(CURLINFO_HEADER_SIZE) > headerBytesMax: .headerTooLarge
    case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING: .truncated
    // A receive error without a socket error means that libcurl refused what it read.
    case CURLE_RECV_ERROR: handle.get(CURLINFO_OS_ERRNO) == 0 ? .protocolViolation : .truncated
    case CURLE_OPERATION_TIMEDOUT: .timeout
    case CURLE_COULDNT_CONNECT, CURLE_ABORTED_BY_CALLBACK:
      hasRefusedAddress ? .refusedAddress : .unreachable
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY, CURLE_SEND_ERROR:
      .unreachable
    case CURLE_URL_MALFORMAT: .invalidURL
    // The URL's scheme is http or https, so the answer had no status line: HTTP/0.9.
    case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_HTTP2, CURLE_HTTP2_STREAM:
      .protocolViolation
    case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM,
      CURLE_SSL_CIPHER, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR,
      CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_ENGINE_NOTFOUND,
      CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_CRL_BADFILE,
      CURLE_USE_SSL_FAILED, CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_CLIENTCERT:
      .tls
    default: .other
    }
  }
}

/// The result of a write callback that ends the transfer. The macro has another type.
private let writeError = Int(CURL_WRITEFUNC_ERROR)

/// The bytes of headers at which libcurl ends a transfer.
private let headerBytesMax = 300 << 10

/// Returns the limit as it was probably set: `32 MiB`, `1000 bytes`.
package func sizeText(_ bytes: Int) -> String {
  let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)]
  let whole = units.first { bytes > 0 && bytes.isMultiple(of: 1 << $0.1) }
  return whole.map { "\(bytes >> $0.1) \($0.0)" } ?? "\(bytes) bytes"
}

/// Returns milliseconds within libcurl's bounds: at least 1, because 0 means its default, and at
/// most the 24 days of an `int`.
private func timeoutMilliseconds(_ duration: Duration) -> Int {
  let milliseconds = (duration / .milliseconds(1)).rounded(.up)
  return Int(min(max(milliseconds, 1), Double(Int32.max)))
}
