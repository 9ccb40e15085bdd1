import ArgumentParser
import Dispatch
import Foundation
import Mooring

/// A process that runs a store's jobs until its standard input ends, and prints when it begins with
/// each: nanoseconds of the machine's uptime, one line each.
struct JobsWorker: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "jobs-worker", abstract: "A runner for `bench jobs`, which starts it.",
    shouldDisplay: false)

  @Argument(help: "The folder of the store.") var folder: String
  @Option(help: "Jobs at once.") var concurrency = MooringJobs.usualConcurrency
  @Flag(help: "Run each job until the end.") var hold = false

  func run() throws { try blocking { [self] in try await serve() } }

  private func serve() async throws {
    var handlers = JobHandlers()
    handlers.handle(BenchJob.self) { [hold] _, _ in
      FileHandle.standardOutput.write(Data("\(uptime())\n".utf8))
      if hold { try await Task.sleep(for: .seconds(86_400)) }
      return NoOutput()
    }
    var options = RunnerOptions()
    options.concurrency = concurrency
    let runner = JobRunner(
      try Store.openForJobs(in: URL(filePath: folder)), handlers, options: options)
    Thread {
      while !FileHandle.standardInput.availableData.isEmpty {}
      Task { await runner.stop(within: .zero) }
    }.start()
    try await runner.run()
  }
}

/// Nanoseconds, the same in all processes.
func uptime() -> UInt64 { DispatchTime.now().uptimeNanoseconds }

/// A `JobsWorker` that runs.
final class WorkerProcess {
  /// When it began with a job, one after another; ends with the process.
  let starts: AsyncStream<UInt64>
  private let process = Process()
  /// It runs until this is closed.
  private let input = Pipe()

  var id: pid_t { process.processIdentifier }

  init(in folder: URL, concurrency: Int = MooringJobs.usualConcurrency, holds: Bool = false) throws
  {
    let output = Pipe()
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments =
      ["jobs-worker", folder.path, "--concurrency", String(concurrency)] + (holds ? ["--hold"] : [])
    process.standardInput = input
    process.standardOutput = output
    let (starts, continuation) = AsyncStream.makeStream(of: UInt64.self)
    self.starts = starts
    try process.run()
    Thread {
      var rest = Data()
      while true {
        let data = output.fileHandleForReading.availableData
        if data.isEmpty { break }
        rest += data
        let lines = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for line in lines.dropLast() {
          if let time = UInt64(String(decoding: line, as: UTF8.self)) { continuation.yield(time) }
        }
        rest = Data(lines.last ?? Data())
      }
      continuation.finish()
    }.start()
  }

  func send(_ signal: Int32) { kill(id, signal) }

  /// Lets it come to its end, and waits for that.
  func stop() throws {
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
  }
}
