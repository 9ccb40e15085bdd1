import CMooringMicroHTTPD
import Glibc

/// The functions that libmicrohttpd calls, on its thread. Their context is the server's core.
enum RequestReader {
  static func callbacks(_ core: ServerCore) -> mooring_microhttpd_callbacks {
    mooring_microhttpd_callbacks(
      context: Unmanaged.passUnretained(core).toOpaque(), connection: connection,
      request_line: requestLine, request: request, completed: completed)
  }

  // SAFETY (all callbacks): the core lives until the daemon has stopped. The pointer of a socket is
  // the connection that was retained when the socket was accepted, until it is closed. Strings end
  // with zero and are copied.

  private static func core(_ context: UnsafeMutableRawPointer?) -> ServerCore? {
    context.map { Unmanaged<ServerCore>.fromOpaque($0).takeUnretainedValue() }
  }

  private static func connection(_ core: ServerCore, _ handle: OpaquePointer) -> WebConnection? {
    mooring_microhttpd_context(core.library.call, handle).map {
      Unmanaged<WebConnection>.fromOpaque($0).takeUnretainedValue()
    }
  }

  private static let connection: MHD_NotifyConnectionCallback = { context, handle, slot, event in
    guard let core = core(context), let handle, let slot else { return }
    if event == .CONNECTION_NOTIFY_STARTED {
      let connection = WebConnection(handle, core)
      slot.pointee = Unmanaged.passRetained(connection).toOpaque()
      core.add(connection)
    } else if let retained = slot.pointee {
      let connection = Unmanaged<WebConnection>.fromOpaque(retained).takeRetainedValue()
      slot.pointee = nil
      connection.close()
      core.remove(connection)
    }
  }

  private static let requestLine:
    @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?) ->
      UnsafeMutableRawPointer? = { context, target, handle in
        guard let core = core(context), let target, let handle else { return nil }
        connection(core, handle)?.begin(target: String(cString: target))
        return nil
      }

  private static let request: MHD_AccessHandlerCallback = {
    context, handle, _, method, _, part, partBytes, _ in
    guard let core = core(context), let handle, let method, let partBytes,
      let connection = connection(core, handle)
    else { return .NO }
    let part = UnsafeRawBufferPointer(start: part, count: partBytes.pointee)
    partBytes.pointee = 0
    return connection.proceed(method: String(cString: method), part: part) ? .YES : .NO
  }

  private static let completed: MHD_RequestCompletedCallback = { context, handle, _, _ in
    guard let core = core(context), let handle else { return }
    connection(core, handle)?.complete()
  }

  /// Returns the headers of the request that the connection is at, in order.
  static func headers(of handle: OpaquePointer, _ library: LibMicroHTTPD) -> [WebRequest.Field] {
    var headers: [WebRequest.Field] = []
    withUnsafeMutablePointer(to: &headers) {
      _ = library.call.pointee.MHD_get_connection_values_n(
        handle, .HEADER_KIND,
        { context, _, name, nameBytes, value, valueBytes in
          let name = UnsafeRawBufferPointer(start: name, count: nameBytes)
          let value = UnsafeRawBufferPointer(start: value, count: valueBytes)
          context?.assumingMemoryBound(to: [WebRequest.Field].self).pointee.append(
            (String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self)))
          return .YES
        }, $0)
    }
    return headers
  }
}
