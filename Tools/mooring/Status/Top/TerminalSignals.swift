import Console
import Glibc
import Synchronization

/// The write end of the pipe of signals, for their handler; -1 while there is none.
private let signalPipe = Atomic<Int32>(-1)

/// Signals of a terminal as bytes of a pipe, so that one `poll` waits for keys and signals.
struct TerminalSignals: ~Copyable {
  /// The signals that end the program.
  static let ending = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
  private static let caught = ending + [SIGWINCH, SIGTSTP, SIGCONT]

  /// Becomes readable with a signal.
  let descriptor: Int32
  private var earlier: [(signal: Int32, action: sigaction)] = []
  private var earlierMask = sigset_t()

  /// - Throws: `CommandError` if the process may open no more files.
  init() throws(CommandError) {
    var ends: [Int32] = [-1, -1]
    // SAFETY: the array has room for the two descriptors.
    guard pipe(&ends) == 0 else { throw .terminal(errno) }
    for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    descriptor = ends[0]
    // This is the first use of the variable: the handler runs no initializer.
    signalPipe.store(ends[1], ordering: .relaxed)
    for signal in Self.caught { catchSignal(signal) }
    unblockStops()
  }

  deinit {
    // SAFETY: the actions and the mask are those that the system has returned.
    for (signal, action) in earlier {
      var action = action
      sigaction(signal, &action, nil)
    }
    var mask = earlierMask
    pthread_sigmask(SIG_SETMASK, &mask, nil)
    close(signalPipe.exchange(-1, ordering: .relaxed))
    close(descriptor)
  }

  /// Returns the signals since the last call.
  func read() -> [Int32] {
    var bytes = [UInt8](repeating: 0, count: 64)
    // SAFETY: the buffer has as many bytes as the call is told.
    let count = Glibc.read(descriptor, &bytes, bytes.count)
    return bytes.prefix(max(0, count)).map(Int32.init)
  }

  /// Stops the process as Ctrl-Z does, and returns when it continues. A process that nobody can
  /// continue, as under ssh without a shell, is not stopped.
  func stop() {
    var stopping = Self.action(SIG_DFL)
    var catching = sigaction()
    // SAFETY: both actions are complete. The signal is sent to this thread, which does not block
    // it, so that the process has stopped before `raise` returns.
    sigaction(SIGTSTP, &stopping, &catching)
    raise(SIGTSTP)
    sigaction(SIGTSTP, &catching, nil)
  }

  private mutating func catchSignal(_ signal: Int32) {
    var action = Self.action(noteSignal)
    var old = sigaction()
    // SAFETY: the action is complete, and its handler does only what signal-safety(7) allows.
    if sigaction(signal, &action, &old) == 0 { earlier.append((signal, old)) }
  }

  /// Lets this thread be stopped: threads of Dispatch block these signals, so that a program in the
  /// background would draw over the shell.
  private mutating func unblockStops() {
    var stops = sigset_t()
    sigemptyset(&stops)
    for signal in [SIGTSTP, SIGTTIN, SIGTTOU] { sigaddset(&stops, signal) }
    pthread_sigmask(SIG_UNBLOCK, &stops, &earlierMask)
  }

  /// Without SA_RESTART: a signal ends the wait for the terminal, too.
  private static func action(_ handler: __sighandler_t?) -> sigaction {
    var action = sigaction()
    action.__sigaction_handler.sa_handler = handler
    return action
  }
}

/// Writes the signal into the pipe. A full pipe has signals enough.
private func noteSignal(_ signal: Int32) {
  let number = errno
  var byte = UInt8(truncatingIfNeeded: signal)
  // SAFETY: write(2) is safe in a handler, and the byte outlives the call.
  _ = write(signalPipe.load(ordering: .relaxed), &byte, 1)
  errno = number
}

extension CommandError {
  /// The terminal cannot be used for a reason of the system.
  static func terminal(_ number: Int32) -> CommandError {
    // SAFETY: strerror returns a NUL-terminated string, which is copied at once.
    let reason = String(cString: strerror(number))
    return CommandError(
      .inputOutput, "the terminal cannot be used: \(reason); `TERM=dumb mooring top` needs none")
  }
}
