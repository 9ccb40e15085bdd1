import Foundation

/// A program that is started as a shell starts it.
struct TimedProgram {
  private let path: String
  private let arguments: [String]

  init(_ path: String, _ arguments: [String]) {
    self.path = path
    self.arguments = arguments
  }

  var exists: Bool { FileManager.default.isExecutableFile(atPath: path) }

  /// Runs the program and waits for its end. `Process` would notice the end too late.
  ///
  /// - Returns: The standard output, and the time from the start to the end of the program.
  /// - Throws: `candidate` if the exit status is not 0, or a signal ends the program.
  func run() throws -> (output: String, seconds: Double) {
    let pipe = Pipe()
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, pipe.fileHandleForWriting.fileDescriptor, 1)
    // A daemon that the program starts must not keep the pipe open.
    for end in [pipe.fileHandleForReading, pipe.fileHandleForWriting] {
      posix_spawn_file_actions_addclose(&actions, end.fileDescriptor)
    }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // Threads of Dispatch block most signals, and pgbench, for one, ends by a timer's signal.
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    // SAFETY: the copies live until the program was started, and are then freed once.
    var words = ([path] + arguments).map { strdup($0) } + [nil]
    defer { words.forEach { free($0) } }
    let start = ContinuousClock.now
    var id = pid_t()
    let code = posix_spawn(&id, path, &actions, &attributes, &words, environ)
    guard code == 0 else {
      throw BenchError(.candidate, "\(path): \(String(cString: strerror(code)))")
    }
    try pipe.fileHandleForWriting.close()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    var status: Int32 = 0
    while waitpid(id, &status, 0) < 0, errno == EINTR {}
    let time = (ContinuousClock.now - start).seconds
    guard status == 0 else {
      let ending = status & 0x7f == 0 ? "exit status \(status >> 8)" : "signal \(status & 0x7f)"
      throw BenchError(.candidate, "\(path) \(arguments.joined(separator: " ")): \(ending)")
    }
    return (String(decoding: output, as: UTF8.self), time)
  }
}
