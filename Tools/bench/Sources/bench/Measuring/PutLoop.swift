import ArgumentParser
import Foundation
import Mooring
import Synchronization

/// Writes one row after another, each durably, until its standard input ends. It prints a line when
/// it begins, and the milliseconds of each write at the end.
struct PutLoop: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "put-loop", abstract: "Writes rows until its input ends.", shouldDisplay: false)

  /// The episodes that it writes: those with the record ids from 1.
  static let rows = 1_000

  @Argument var folder: String

  func run() throws {
    let ended = Mutex(false)
    Thread {
      while readLine() != nil {}
      ended.withLock { $0 = true }
    }.start()
    var options = Store.Options()
    options.mapSize = 8 << 30
    let store = try Store.open(at: folder, options: options)
    FileHandle.standardOutput.write(Data("begins\n".utf8))
    let times = try blocking {
      var times: [Double] = []
      var number = 0
      while !ended.withLock({ $0 }) {
        number += 1
        let row = number % Self.rows + 1
        times.append(
          try await seconds {
            try await store.write { transaction in
              try transaction.update(ObjectID(entity: "Episode", number: Int64(row))) {
                try $0.set("progress", to: .double(Double.random(in: 0..<1)))
              }
            }
          })
        usleep(2_000)
      }
      return times
    }
    for time in times { print(time * 1_000) }
  }

  /// Runs this program's `put-loop` on a store in another process while the body runs.
  ///
  /// - Returns: The milliseconds of each put.
  /// - Throws: The error of the body; `candidate` if the other process fails.
  static func latencies(
    in folder: URL, during body: () async throws -> Void
  ) async throws -> Percentiles {
    let process = Process()
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["put-loop", folder.path]
    let input = Pipe()
    let output = Pipe()
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    // The first line may come with more of the stream.
    let greeting = output.fileHandleForReading.availableData
    var failure: (any Error)?
    do { try await body() } catch { failure = error }
    try input.fileHandleForWriting.close()
    let rest = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    if let failure { throw failure }
    guard process.terminationStatus == 0 else {
      throw BenchError(.candidate, "put-loop: exit status \(process.terminationStatus)")
    }
    let lines = String(decoding: greeting + rest, as: UTF8.self).split(separator: "\n")
    return Percentiles(lines.compactMap { Double($0) })
  }
}
