import CMooringMicroHTTPD
import Glibc

/// A response as libmicrohttpd has it.
enum OutgoingResponse {
  enum Body {
    case bytes([UInt8])
    case events(EventStream)
  }

  /// Sends a response.
  ///
  /// - Returns: False if libmicrohttpd does not accept it.
  static func queue(
    _ response: WebResponse, _ body: Body, _ connection: OpaquePointer, _ library: LibMicroHTTPD
  ) -> Bool {
    let call = library.call.pointee
    // SAFETY: the pointers of libmicrohttpd are used in its callback for this connection; the
    // strings are copied. The connection keeps a reference to the response that it sends.
    guard let raw = create(body, call) else { return false }
    defer { call.MHD_destroy_response(raw) }
    for (name, value) in response.headers {
      guard call.MHD_add_response_header(raw, name, value) == .YES else { return false }
    }
    return call.MHD_queue_response(connection, UInt32(response.status), raw) == .YES
  }

  private static func create(_ body: Body, _ call: mooring_microhttpd) -> OpaquePointer? {
    switch body {
    case .bytes(var bytes):
      return bytes.withUnsafeMutableBytes {
        call.MHD_create_response_from_buffer($0.count, $0.baseAddress, .RESPMEM_MUST_COPY)
      }
    case .events(let stream):
      let retained = Unmanaged.passRetained(stream)
      let raw = call.MHD_create_response_from_callback(
        .max, EventStream.partBytes, EventStream.reader, retained.toOpaque(), EventStream.release)
      if raw == nil { retained.release() }
      return raw
    }
  }
}

/// The body of a response that consists of events.
// @unchecked: `connection` is used only while it is in a callback or suspended.
final class EventStream: @unchecked Sendable {
  let subscriber: EventSubscriber
  private let channel: EventChannel
  private let connection: OpaquePointer
  private let library: LibMicroHTTPD

  /// The size of libmicrohttpd's buffer, in which it also makes the chunks.
  static let partBytes = 4_096

  init(_ channel: EventChannel, _ connection: OpaquePointer, _ library: LibMicroHTTPD) {
    self.channel = channel
    self.connection = connection
    self.library = library
    // SAFETY: the subscriber calls this once after each suspension, and a suspended connection
    // lives until it is resumed.
    nonisolated(unsafe) let connection = connection
    subscriber = EventSubscriber {
      library.call.pointee.MHD_resume_connection(connection)
    }
    channel.add(subscriber)
  }

  private func end() {
    subscriber.end()
    channel.remove(subscriber)
  }

  // SAFETY (both callbacks): the context is the stream that was retained for the response, which
  // calls `release` last; the buffer has room for `count` bytes.
  static let reader: MHD_ContentReaderCallback = { context, _, buffer, count in
    guard let context, let buffer else { return endOfStream }
    let stream = Unmanaged<EventStream>.fromOpaque(context).takeUnretainedValue()
    let room = UnsafeMutableRawBufferPointer(start: buffer, count: count)
    let next = stream.subscriber.read(into: room) {
      stream.library.call.pointee.MHD_suspend_connection(stream.connection)
    }
    return switch next {
    case .bytes(let count): count
    case .wait: 0
    case .end: endOfStream
    }
  }

  static let release: MHD_ContentReaderFreeCallback = { context in
    guard let context else { return }
    Unmanaged<EventStream>.fromOpaque(context).takeRetainedValue().end()
  }

  /// MHD_CONTENT_READER_END_OF_STREAM.
  private static let endOfStream = -1
}
