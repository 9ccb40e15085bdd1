import ArgumentParser
import Console
import DurableJobs
import EntityModel
import EntityObjects
import EntityStore
import Foundation
import StoreJobs

struct BatchUpdateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "update",
    abstract: "Changes all records that match: --set progress=1 --set watchedAt=now.",
    discussion: """
      mooring batch update Episode --where 'type == "free"' --set watchLaterAt=now
      mooring batch update Episode --all --set 'progress:=progress / 2' --set favoriteAt=null

      Values are written as for `mooring set`; := assigns an expression, which reads the record \
      before the update. A to-one relationship is set by the other record's id, # and its number, \
      or null. \
      The count is that of the records that match.
      """)

  @OptionGroup var options: StoreOptions
  @Argument(help: "The entity, such as Episode.", completion: .entity) var entity: String
  @OptionGroup(title: "Records") var target: BatchTarget
  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "attribute=value or attribute:=expression. May be repeated.", valueName: "assignment"),
    completion: .assignment)
  var set: [String] = []
  @OptionGroup(title: "Batch") var batch: BatchOptions
  @OptionGroup var job: DetachOptions

  func validate() throws {
    if set.isEmpty { throw ValidationError("name the changes: --set attribute=value") }
    try batch.refuse(with: job, target)
  }

  func run() async throws {
    let store = try target.dryRun ? options.openToRead() : options.open()
    let request = try store.read { transaction in
      let predicate = try target.predicate(of: entity, in: transaction)
      let assignments = try BatchAssignments(of: entity, in: transaction)
      let set = try assignments.read(set)
      let fetch = FetchRequest(entityName: entity, predicate: predicate)
      try assignments.requireLocal(set.keys.sorted(), in: fetch)
      if target.dryRun { try target.printMatches(fetch, "matching", batch, in: transaction) }
      return BatchUpdateRequest(
        entity, where: predicate, set: set, resultType: batch.resultType,
        options: try batch.requestOptions())
    }
    if target.dryRun { return }
    if job.detach {
      let update = UpdateRecords(
        entity, where: request.predicate, set: request.set, without: try batch.withoutList(),
        author: batch.author)
      return try await job.enqueue(update, in: store, options, batch.format)
    }
    let result = try await options.runBatch(entity) { progress in
      try await store.execute(request, progress: progress)
    }
    try BatchOutput(entity: entity, format: batch.format)
      .write(result, [("updated", \.updated)], of: store)
  }
}

/// Reads `attribute=value`, `relationship=key` and `attribute:=expression`.
struct BatchAssignments {
  private let entity: EntityDescription
  private let transaction: ReadTransaction

  init(of entity: String, in transaction: ReadTransaction) throws {
    self.entity = try transaction.description(of: entity)
    self.transaction = transaction
  }

  /// - Throws: `CommandError`, `PlacedError`, `StoreError` for a name that is not there.
  func read(_ texts: [String]) throws -> [String: AttributeAssignment] {
    var set: [String: AttributeAssignment] = [:]
    for text in texts {
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[0].isEmpty else {
        throw CommandError(.usage, "--set: \"\(text)\" is no assignment; write attribute=value")
      }
      let isExpression = parts[0].hasSuffix(":")
      let name = String(isExpression ? parts[0].dropLast() : parts[0])
      let value = String(parts[1])
      let assignment =
        try isExpression ? expression(value, for: name) : constant(value, for: name)
      guard set.updateValue(assignment, forKey: name) == nil else {
        throw CommandError(.usage, "--set: \(name) is given twice")
      }
    }
    return set
  }

  private func expression(_ text: String, for name: String) throws -> AttributeAssignment {
    let expression: FetchExpression
    do {
      expression = try FetchExpression(format: text, arguments: [])
    } catch {
      throw PlacedError("--set", error)
    }
    // A value that cannot be bound is reported before anything is written, also in a dry run.
    var request = FetchRequest(entityName: entity.name, predicate: .always(false))
    request.propertiesToFetch = [FetchProperty(name, expression)]
    _ = try transaction.fetchRows(request)
    return .expression(expression)
  }

  private func constant(_ text: String, for name: String) throws -> AttributeAssignment {
    if let relationship = entity.relationship(named: name), !relationship.isHidden,
      !relationship.isToMany
    {
      if text == "null" { return nil }
      let prefix = relationship.destination + "/"
      let key = text.hasPrefix(prefix) ? "#" + text.dropFirst(prefix.count) : text
      return .object(try RecordLookup(transaction).find(key, in: relationship.destination))
    }
    guard let attribute = entity.attribute(named: name), !attribute.isHidden else {
      throw StoreError.unknownAttribute(name, in: entity)
    }
    if attribute.type == .date, text == "now" { return .now }
    guard let value = attribute.value(of: text, now: .distantPast) else {
      throw CommandError(
        .usage,
        "--set: \"\(text)\" is no \(attribute.type.name) for \(name); for an expression write "
          + "\(name):=\(text)")
    }
    return .value(value)
  }

  // MARK: Ownership

  /// Requires local attributes where a request has a feed's records: a person changes only those.
  ///
  /// - Throws: `CommandError`.
  func requireLocal(_ names: [String], in request: FetchRequest) throws {
    guard let name = names.first(where: isOfFeed), entity.attribute(named: "feedID") != nil else {
      return
    }
    var request = request
    let ofFeed = FetchPredicate.isNotNull("feedID")
    request.predicate = request.predicate.map { $0 && ofFeed } ?? ofFeed
    request.fetchLimit = 1
    guard try transaction.count(request) > 0 else { return }
    throw CommandError(
      .notPermitted,
      "\(name) belongs to the feed, and some of these records are a feed's; add feedID == nil to "
        + "--where, or change only local attributes: "
        + entity.attributes.filter { $0.owner == .local }.map(\.name).joined(separator: ", "))
  }

  private func isOfFeed(_ name: String) -> Bool {
    if let attribute = entity.attribute(named: name) { return attribute.owner == .feed }
    guard let relationship = entity.relationship(named: name) else { return false }
    guard case .key(let pairs, _) = relationship.storage else { return false }
    return pairs.contains { pair in
      entity.attributes.contains { $0.id == pair.own && $0.owner == .feed }
    }
  }
}
