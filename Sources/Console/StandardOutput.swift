internal import ArgumentParser
public import Glibc

/// A buffered file descriptor to which a command writes its data.
///
/// When the reader is gone (`mooring fetch Episode | head`), writing throws `ExitCode.success`:
/// the command unwinds, closes what it holds and ends quietly. To be used by one thread.
public struct StandardOutput: ~Copyable {
  private static let bufferBytesMax = 64 * 1024

  private let descriptor: Int32
  private var buffer: [UInt8] = []

  /// Runs a body that writes, then flushes, also when the body fails: the output before an error is
  /// data.
  ///
  /// Ignores SIGPIPE in this process, so that a reader who left is an error here and no signal.
  ///
  /// - Parameter descriptor: Where to write; it is not closed.
  /// - Throws: What the body throws; `ExitCode.success` if the reader is gone; ``OutputError`` if
  ///   the system refuses to write.
  public static func with<Result>(
    descriptor: Int32 = STDOUT_FILENO, _ body: (inout StandardOutput) throws -> Result
  ) throws -> Result {
    signal(SIGPIPE, SIG_IGN)
    var output = StandardOutput(descriptor: descriptor)
    let result: Result
    do {
      result = try body(&output)
    } catch {
      try output.flush()
      throw error
    }
    try output.flush()
    return result
  }

  private init(descriptor: Int32) {
    self.descriptor = descriptor
  }

  /// The width of the terminal in columns, or nil if the output goes to a file or a pipe.
  public var terminalWidth: Int? { Terminal.width(of: descriptor) }

  /// Adds text; it reaches the descriptor when the buffer is full or flushed.
  public mutating func write(_ text: String) throws {
    buffer.append(contentsOf: text.utf8)
    if buffer.count >= Self.bufferBytesMax { try flush() }
  }

  /// Adds a table, cut to the terminal's width if there is a terminal.
  public mutating func write(_ table: TextTable) throws {
    try write(table.text(width: terminalWidth))
  }

  /// Hands everything to the system.
  ///
  /// - Throws: `ExitCode.success` if the reader is gone, ``OutputError`` otherwise; in both cases
  ///   the buffer is dropped.
  public mutating func flush() throws {
    defer { buffer.removeAll(keepingCapacity: true) }
    var rest = buffer[...]
    while !rest.isEmpty {
      // SAFETY: the pointer and count are those of `rest` and are used only inside the closure.
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else {
        try recover(from: errno)
      }
    }
  }

  /// Returns if the write may be tried again.
  private func recover(from code: Int32) throws {
    switch code {
    case EINTR: return
    case EAGAIN:
      // A program that shares the descriptor made it non-blocking; wait until there is room.
      var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      _ = poll(&request, 1, -1)
    case EPIPE: throw ExitCode.success
    default: throw OutputError(systemError: code)
    }
  }
}

/// The system refused to take output; `ExitStatus.inputOutput` is the status for it.
public struct OutputError: Error, Sendable, CustomStringConvertible {
  /// The system's error number.
  public let systemError: Int32

  public var description: String {
    let reason = String(cString: strerror(systemError))
    return "the output cannot be written: \(reason); make room, or write elsewhere"
  }
}
