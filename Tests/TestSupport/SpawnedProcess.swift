public import Foundation
import Glibc

/// A process started by `posix_spawn`, with the part of Foundation's `Process` that tests use.
///
/// Foundation's own, in Swift 6.3 on Linux, crashes now and then: it copies whole `dirent`s out of
/// the buffer of `readdir`, whose last one may end at an unmapped page. A suite that starts
/// hundreds of processes meets that.
public final class SpawnedProcess: @unchecked Sendable {
  public enum TerminationReason: Sendable { case exit, uncaughtSignal }

  public struct SpawnError: Error, CustomStringConvertible {
    public let description: String
  }

  // SAFETY (`@unchecked Sendable`): what is set before `run` is not touched after it; `status` is
  // guarded by `ended`.

  public var executableURL: URL?
  public var arguments: [String] = []
  /// `nil`: that of this process.
  public var environment: [String: String]?
  /// A `Pipe`, a `FileHandle`, or `nil` for what this process has.
  public var standardInput: Any?
  public var standardOutput: Any?
  public var standardError: Any?
  /// The closure that is called on a separate thread when the process has ended.
  public var terminationHandler: (@Sendable (SpawnedProcess) -> Void)?
  public private(set) var processIdentifier: Int32 = 0

  private let ended = NSCondition()
  private var status: Int32?

  public init() {}

  public func run() throws {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (stream, number) in [(standardInput, 0), (standardOutput, 1), (standardError, 2)] {
      guard let descriptor = childEnd(of: stream, isInput: number == 0) else { continue }
      posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
    }
    try closeOthers(&actions)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // Dispatch's threads block most signals, and a child would inherit that.
    var none = sigset_t()
    var all = sigset_t()
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    let path = executableURL?.path ?? ""
    let variables = (environment ?? ProcessInfo.processInfo.environment).map { "\($0)=\($1)" }
    let result = withCStrings([path] + arguments) { arguments in
      withCStrings(variables) { variables in
        posix_spawn(&processIdentifier, path, &actions, &attributes, arguments, variables)
      }
    }
    guard result == 0 else {
      throw SpawnError(description: "\(path): \(String(cString: strerror(result)))")
    }
    closeChildEnds()
    Thread.detachNewThread { self.wait() }
  }

  public func waitUntilExit() {
    ended.lock()
    defer { ended.unlock() }
    while status == nil { ended.wait() }
  }

  /// The exit code, or the signal's number. Valid when the process has ended.
  public var terminationStatus: Int32 {
    let status = finalStatus
    return terminationReason == .exit ? (status >> 8) & 0xff : status & 0x7f
  }

  public var terminationReason: TerminationReason {
    finalStatus & 0x7f == 0 ? .exit : .uncaughtSignal
  }

  private var finalStatus: Int32 {
    ended.lock()
    defer { ended.unlock() }
    guard let status else { preconditionFailure("the process has not ended") }
    return status
  }

  /// Lets the child have the three streams only, or the end of a pipe might never come.
  ///
  /// The function is of glibc 2.34, and Swift's module of it does not show it.
  private func closeOthers(_ actions: inout posix_spawn_file_actions_t) throws {
    typealias CloseFrom =
      @convention(c) (
        UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32
      ) -> Int32
    guard let symbol = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") else {
      throw SpawnError(description: "the tests need glibc 2.34")
    }
    // SAFETY: the type is that of the declaration in <spawn.h>.
    _ = unsafeBitCast(symbol, to: CloseFrom.self)(&actions, 3)
  }

  private func wait() {
    var status: Int32 = 0
    while waitpid(processIdentifier, &status, 0) < 0, errno == EINTR {}
    ended.lock()
    self.status = status
    ended.broadcast()
    ended.unlock()
    terminationHandler?(self)
  }

  private func childEnd(of stream: Any?, isInput: Bool) -> Int32? {
    switch stream {
    case let pipe as Pipe:
      (isInput ? pipe.fileHandleForReading : pipe.fileHandleForWriting).fileDescriptor
    case let handle as FileHandle: handle.fileDescriptor
    default: nil
    }
  }

  /// The parent's copies would keep a pipe open after the child has ended.
  private func closeChildEnds() {
    if let pipe = standardInput as? Pipe { pipe.fileHandleForReading.closeFile() }
    if let pipe = standardOutput as? Pipe { pipe.fileHandleForWriting.closeFile() }
    if let pipe = standardError as? Pipe { pipe.fileHandleForWriting.closeFile() }
  }

  private func withCStrings<R>(
    _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> R
  ) -> R {
    let copies = strings.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return body(copies + [nil])
  }
}
