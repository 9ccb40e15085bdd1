import Console
import Glibc

/// The terminal of the process as a screen of its own: each key is read as it is typed, the cursor
/// is hidden, and what was shown before comes back at the end.
struct RawScreen: ~Copyable {
  enum Event {
    case keys([TopKey])
    /// The size may be another one, or other programs have drawn.
    case redraw
    case timeout
    /// A signal asks the program to end.
    case ended(Int32)
  }

  /// How long the bytes of one key may take. Over ssh they may come in two packets.
  private static let keyTime = Duration.milliseconds(50)

  private let signals: TerminalSignals
  private let settings: termios
  private var keys = TopKeyDecoder()
  /// The lines on the screen; nil if they are not known.
  private var shown: [String]?
  private var isRaw = false

  /// Runs a body that draws. The terminal is as before when it has returned or thrown.
  ///
  /// - Throws: What the body throws; `CommandError` if standard input is no terminal.
  static func with<R>(_ body: (inout RawScreen) throws -> R) throws -> R {
    var settings = termios()
    // SAFETY: the call fills exactly one `termios`, which outlives it.
    guard tcgetattr(STDIN_FILENO, &settings) == 0 else { throw CommandError.terminal(errno) }
    var screen = RawScreen(settings, try TerminalSignals())
    let result: R
    do {
      result = try body(&screen)
    } catch {
      screen.leave()
      throw error
    }
    screen.leave()
    return result
  }

  private init(_ settings: termios, _ signals: consuming TerminalSignals) {
    self.settings = settings
    self.signals = signals
  }

  /// The columns and rows.
  var size: (columns: Int, rows: Int) { Terminal.size(of: STDOUT_FILENO) ?? (80, 24) }

  /// Shows lines from the top of the screen. Only those that have changed are sent, by one write.
  ///
  /// - Throws: `OutputError` if the terminal is gone.
  mutating func draw(_ lines: [String]) throws {
    if !isRaw { try enter() }
    guard isRaw else { return }
    var frame = shown == nil ? "\u{1B}[2J" : ""
    for (index, line) in lines.enumerated() {
      if let shown, index < shown.count, shown[index] == line { continue }
      frame += "\u{1B}[\(index + 1);1H\u{1B}[2K\(line)"
    }
    shown = lines
    if !frame.isEmpty { try Self.write(frame) }
  }

  /// Waits for a key, a signal or a time, whichever comes first.
  mutating func wait(until deadline: ContinuousClock.Instant?) -> Event {
    var left = deadline.map { max(.zero, $0 - .now) }
    if keys.isPending { left = min(left ?? Self.keyTime, Self.keyTime) }
    // Rounded up, or the last millisecond would be spent in a loop.
    let milliseconds = left.map { Int32(min(3.6e6, ($0 / .milliseconds(1)).rounded(.up))) } ?? -1
    var waited = [
      pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
      pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
    ]
    // SAFETY: the array has as many elements as the call is told.
    let ready = poll(&waited, nfds_t(waited.count), milliseconds)
    if ready < 0 || waited[1].revents != 0 { return event(of: signals.read()) }
    if waited[0].revents != 0 { return read() }
    return keys.flush().map { .keys([$0]) } ?? .timeout
  }

  private mutating func read() -> Event {
    var bytes = [UInt8](repeating: 0, count: 1_024)
    // SAFETY: the buffer has as many bytes as the call is told.
    let count = Glibc.read(STDIN_FILENO, &bytes, bytes.count)
    if count > 0 { return .keys(keys.decode(bytes.prefix(count))) }
    return count < 0 && (errno == EINTR || errno == EAGAIN) ? .timeout : .ended(SIGHUP)
  }

  private mutating func event(of received: [Int32]) -> Event {
    var received = received
    if received.contains(SIGTSTP) {
      leave()
      signals.stop()
      received += signals.read()
    }
    if let signal = received.first(where: TerminalSignals.ending.contains) { return .ended(signal) }
    // A shell has set up the terminal for itself since it was left.
    if received.contains(SIGCONT) { isRaw = false }
    if received.isEmpty { return .timeout }
    shown = nil
    return .redraw
  }

  /// Sets the terminal up. In the background this stops the process; if a signal comes instead, the
  /// next drawing tries again.
  private mutating func enter() throws {
    var raw = settings
    raw.c_lflag &= ~tcflag_t(ICANON | ECHO | IEXTEN)
    raw.c_iflag &= ~tcflag_t(IXON | ICRNL)
    // SAFETY: `raw` is a complete copy of the terminal's settings.
    guard tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0 else { return }
    isRaw = true
    shown = nil
    // The alternate screen, without the cursor and without line wrap.
    try Self.write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l")
  }

  private mutating func leave() {
    guard isRaw else { return }
    isRaw = false
    // A terminal that is gone needs no order; the settings are restored in any case.
    try? Self.write("\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l")
    var settings = settings
    // SAFETY: these are the settings that the terminal had. What was typed for the screen is
    // dropped: a shell must not run it.
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
  }

  private static func write(_ text: String) throws {
    try StandardOutput.with { try $0.write(text) }
  }
}
