import ArgumentParser
import Console
import DurableJobs
import EntityModel
import EntityStore

struct JobsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "jobs", abstract: "Prints the records of the jobs in the order of their ids.",
    discussion: """
      mooring-dump jobs --state running

      As they are stored, whatever their state; payloads, checkpoints and outputs as text where \
      they are text. A record that cannot be read is reported on stderr, and the dump continues. \
      Attempts, runners, batches and figures: `mooring-dump records _JobAttempt`, `_JobRunner`, \
      `_JobBatch`, `_JobMinute`.
      """)

  /// The name of the entity: the dump does not depend on the meaning of records.
  private static let entity = "_Job"

  @OptionGroup var options: StoreOptions
  @Option(
    help: "Only of this state, as it is stored; may be repeated.",
    completion: .list(JobState.allCases.map(\.rawValue)))
  var state: [String] = []
  @Option(help: OutputFormat.allHelp) var format = OutputFormat.jsonl

  func run() async throws {
    let store = try options.openToRead()
    guard try store.schema.entity(named: Self.entity) != nil else {
      throw CommandError(
        .configuration, "the store \(options.folder) has no jobs yet; run `mooring migrate up`")
    }
    let states = state.map(Value.string)
    var damage = Damage()
    try store.read { transaction in
      for state in state { try validate(state, transaction) }
      try StandardOutput.with { output in
        let names = try transaction.description(of: Self.entity).attributes.map(\.name)
        var rows = RowWriter(titles: ["_id"] + names, format: format)
        try transaction.forEachStored(Self.entity) { stored in
          guard let record = damage.record(stored) else { return true }
          let isAskedFor = try states.isEmpty || states.contains(record["state"])
          guard isAskedFor else { return true }
          let values = try names.map { try record[$0].legible }
          try rows.write([.int64(record.id.number)] + values, &output)
          return true
        }
        try rows.end(&output)
      }
    }
    try damage.end("jobs")
  }

  /// Accepts the states of jobs, and what is stored in the place of one.
  private func validate(_ state: String, _ transaction: ReadTransaction) throws {
    if JobState(rawValue: state) != nil { return }
    let stored = try transaction.fetchIdentifiers(
      FetchRequest(
        entityName: Self.entity, predicate: .comparison("state", .equal, .string(state)),
        fetchLimit: 1))
    guard stored.isEmpty else { return }
    let states = JobState.allCases.map(\.rawValue).joined(separator: ", ")
    throw CommandError(.usage, "no job has the state \"\(state)\"; the states are \(states)")
  }
}

extension Value {
  /// Data as text, where it is text.
  fileprivate var legible: Value {
    guard case .data(let data) = self, let text = String(validating: data, as: UTF8.self) else {
      return self
    }
    return .string(text)
  }
}
