import Console
import EntityModel
import EntityObjects
import EntityStore
import Foundation

/// Prints the result of a batch on standard output.
struct BatchOutput {
  let entity: String
  let format: OutputFormat

  func write(_ counts: [(title: String, count: Int64)]) throws {
    try StandardOutput.with { output in
      var rows = RowWriter(titles: ["entity"] + counts.map(\.title), format: format)
      try rows.write([.string(entity)] + counts.map { .int64($0.count) }, &output)
      try rows.end(&output)
    }
  }

  /// References come as bare lines, for the next command of a pipe.
  func write(_ identifiers: [ObjectID], in storeID: UUID) throws {
    try StandardOutput.with { output in
      guard format != .table else {
        for id in identifiers { try output.write("\(id)\n") }
        return
      }
      var rows = RowWriter(titles: ["object", "url"], format: format)
      for id in identifiers {
        try rows.write([.string(id.description), .string(id.reference(in: storeID))], &output)
      }
      try rows.end(&output)
    }
  }

  /// - Parameter titles: What of the counts is printed, where the identities are not asked for.
  func write(
    _ result: BatchResult, _ titles: [(String, KeyPath<BatchResult.Counts, Int64>)],
    of store: Store
  ) throws {
    if case .identifiers(let identifiers) = result.outcome {
      let before = result.counts.changed - Int64(identifiers.count)
      // Also where progress is not asked for: the list is not whole.
      if before > 0 {
        Message.say("not listed, because an interrupted run has changed them: \(before)")
      }
      return try write(identifiers, in: try store.id)
    }
    try write(titles.map { ($0.0, result.counts[keyPath: $0.1]) })
  }
}

extension StoreOptions {
  /// Runs a batch with progress until it is done or interrupted.
  ///
  /// - Throws: The errors of the batch; exit status 130 after an interrupt.
  func runBatch(
    _ label: String,
    _ batch:
      @escaping @Sendable (
        _ progress: @escaping @Sendable (BatchProgress) -> Void
      ) async throws -> BatchResult
  ) async throws -> BatchResult {
    let command = LongCommand(isQuiet: quiet)
    let result = try await command.run(
      afterInterrupt: "committed changes stay; the same command continues from there"
    ) {
      try await batch { command.report(label, done: $0.done, of: $0.total) }
    }
    if result.isResumed, !quiet { Message.say("continued an interrupted run") }
    return result
  }
}
