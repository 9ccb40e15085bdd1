import ArgumentParser
import Dispatch
import Foundation
import Mooring

/// Runs the jobs of a store until its standard input ends. It prints a line when it starts a job:
/// the nanoseconds of the machine's uptime.
struct JobsWorker: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "jobs-worker", abstract: "Runs jobs for `bench jobs`.",
    shouldDisplay: false)

  @Argument(help: "The folder of the store.") var folder: String
  @Option(help: "Jobs that run at once.") var concurrency = MooringJobs.usualConcurrency
  @Flag(help: "Let no job end.") var hold = false

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

/// Returns the nanoseconds of a clock that all processes share.
func uptime() -> UInt64 { DispatchTime.now().uptimeNanoseconds }

/// A process that runs `JobsWorker`.
final class WorkerProcess {
  /// The times at which jobs were started. The stream ends with the process.
  let starts: AsyncStream<UInt64>
  private let process = Process()
  /// The standard input. The process ends when it is closed.
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

  /// Ends the process and waits for it.
  func stop() throws {
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
  }
}
