import CMooringCurl
import Glibc

/// An exchange under way: the easy handle with its options, and what has arrived.
///
/// It belongs to the thread of the ``TransferLoop``. libcurl calls back on that thread only, with
/// a pointer to this object, which the loop therefore keeps until the handle has left the multi
/// handle.
final class Transfer {
  let handle: EasyHandle
  private let exchange: Exchange
  private let usesProxy: Bool
  private var collector = HeaderCollector()
  private var body: PaddedBuffer?
  private var isTooLarge = false
  private var hasRefusedAddress = false

  init(_ exchange: Exchange, configuration: CurlTransport.Configuration) throws(HTTPError) {
    self.exchange = exchange
    usesProxy =
      configuration.proxy != nil && !configuration.directHosts.contains(exchange.url.origin.host)
    body = PaddedBuffer(countMax: max(0, exchange.decodedBytesMax))
    handle = try EasyHandle()
    try setRequest(configuration)
    try setLimits(configuration)
    try setNetwork(configuration)
    try setCallbacks()
  }

  // MARK: Options

  private func setRequest(_ configuration: CurlTransport.Configuration) throws(HTTPError) {
    try handle.set(CURLOPT_URL, exchange.url.text)
    try handle.set(CURLOPT_USERAGENT, configuration.userAgent)
    var lines = exchange.headers.map {
      $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)"
    }
    if exchange.acceptsCompression {
      try handle.set(CURLOPT_ACCEPT_ENCODING, "")  // Everything that libcurl can decode.
    } else {
      lines.append("Accept-Encoding: identity")
    }
    try handle.setHeaders(lines)
    if let credentials = exchange.credentials {
      try handle.set(CURLOPT_USERNAME, credentials.user)
      try handle.set(CURLOPT_PASSWORD, credentials.password)
    }
  }

  private func setLimits(_ configuration: CurlTransport.Configuration) throws(HTTPError) {
    // Refuses an announced length early; the cap itself is in `receive`, because this one does
    // not see chunked and compressed bodies.
    try handle.set(CURLOPT_MAXFILESIZE_LARGE, offset: max(1, exchange.decodedBytesMax))
    try handle.set(CURLOPT_TIMEOUT_MS, timeoutMilliseconds(exchange.timeout))
    try handle.set(CURLOPT_CONNECTTIMEOUT_MS, timeoutMilliseconds(configuration.connectTimeout))
    try handle.set(CURLOPT_LOW_SPEED_LIMIT, configuration.slowestBytesPerSecond)
    try handle.set(CURLOPT_LOW_SPEED_TIME, configuration.slowSecondsMax)
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

  /// SAFETY: the context is this object, unretained. The loop holds it until the easy handle has
  /// left the multi handle, and libcurl calls back only while the handle is in there.
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

  /// SAFETY: libcurl hands back the pointer that `setCallbacks` set, during the object's life.
  private static func from(_ context: UnsafeMutableRawPointer?) -> Transfer {
    Unmanaged<Transfer>.fromOpaque(context!).takeUnretainedValue()
  }

  // MARK: Callbacks

  /// Takes decoded bytes; false when they are more than allowed.
  private func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
    if body!.append(bytes) { return true }
    isTooLarge = true  // libcurl reports our refusal as it does its own decoding errors.
    return false
  }

  /// The address is known only here: after the name was resolved and however the URL wrote it.
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

  /// Behind a proxy the only address to be seen is the proxy's, which was configured.
  private func allows(_ address: IPAddress?) -> Bool {
    if exchange.allowsPrivateAddresses || usesProxy || address?.isPublic == true { return true }
    hasRefusedAddress = true
    return false
  }

  // MARK: Ending

  /// What came of the exchange, once libcurl has reported its result. Called once.
  func finish(_ code: CURLcode) -> Exchange.Outcome {
    let ending: Result<Exchange.Answer, HTTPError> =
      code == CURLE_OK
      ? .success(answer())
      : .failure(
        HTTPError(errorCode(code), "\(exchange.url.shown): \(handle.message(for: code))"))
    return Exchange.Outcome(
      address: usesProxy
        ? nil : handle.get(string: CURLINFO_PRIMARY_IP).flatMap(IPAddress.init(text:)),
      wireBytes: handle.get(CURLINFO_HEADER_SIZE) + handle.get(offset: CURLINFO_SIZE_DOWNLOAD_T),
      duration: .microseconds(handle.get(offset: CURLINFO_TOTAL_TIME_T)),
      isReused: handle.get(CURLINFO_NUM_CONNECTS) == 0, version: version, ending: ending)
  }

  private var version: String? {
    switch handle.get(CURLINFO_HTTP_VERSION) {
    case CURL_HTTP_VERSION_1_0: "1.0"
    case CURL_HTTP_VERSION_1_1: "1.1"
    case CURL_HTTP_VERSION_2_0: "2"
    case CURL_HTTP_VERSION_3: "3"
    default: nil
    }
  }

  private func answer() -> Exchange.Answer {
    let status = handle.get(CURLINFO_RESPONSE_CODE)
    let isRedirect = [301, 302, 303, 307, 308].contains(status)
    return Exchange.Answer(
      status: status, headers: collector.headers, body: PaddedBytes(body.take()!),
      redirectTarget: isRedirect ? handle.get(string: CURLINFO_REDIRECT_URL) : nil,
      retryAfter: retryAfterSeconds(
        in: collector.headers, localSeconds: handle.get(offset: CURLINFO_RETRY_AFTER)))
  }

  private func errorCode(_ code: CURLcode) -> HTTPError.Code {
    switch code {
    case CURLE_WRITE_ERROR: isTooLarge ? .tooLarge : .badEncoding
    case CURLE_BAD_CONTENT_ENCODING: .badEncoding
    case CURLE_FILESIZE_EXCEEDED: .tooLarge
    case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING: .truncated
    // A receive error without an error of the socket is libcurl's refusal of what it read.
    case CURLE_RECV_ERROR: handle.get(CURLINFO_OS_ERRNO) == 0 ? .protocolViolation : .truncated
    case CURLE_OPERATION_TIMEDOUT: .timeout
    case CURLE_COULDNT_CONNECT, CURLE_ABORTED_BY_CALLBACK:
      hasRefusedAddress ? .refusedAddress : .unreachable
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY, CURLE_SEND_ERROR:
      .unreachable
    case CURLE_URL_MALFORMAT: .invalidURL
    // The URL's scheme was checked before, so this is an answer without a status line: HTTP/0.9.
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

/// What a write callback returns to end the transfer; the macro has another type than the result.
private let writeError = Int(CURL_WRITEFUNC_ERROR)

/// The duration as libcurl takes it: at least 1, since 0 means its default, and at most the 24
/// days of an `int`.
private func timeoutMilliseconds(_ duration: Duration) -> Int {
  let milliseconds = (duration / .milliseconds(1)).rounded(.up)
  return Int(min(max(milliseconds, 1), Double(Int32.max)))
}
