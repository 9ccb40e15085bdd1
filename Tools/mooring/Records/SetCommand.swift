import ArgumentParser
import Console
import EntityModel
import EntityStore
import Foundation

struct SetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Changes one record: favoriteAt=now, progress=0.4, watchLaterAt=null.",
    discussion: """
      mooring set Episode ep:42 favoriteAt=now progress=0.4

      A value is written as mooring prints it: 3, 0.4, true, 2026-01-31T06:30:00Z or now for a \
      date, null for none; quote a text with blanks for the shell. Attributes that belong to a \
      feed are refused on its records: the next sync would overwrite them.
      """)

  @OptionGroup var options: StoreOptions
  @Argument(help: "The entity, such as Episode.", completion: .entity) var entity: String
  @Argument(help: "The record's id, or # and its number in the store.", completion: .nothing)
  var key: String
  @Argument(help: "attribute=value, any number of them.", completion: .assignment)
  var assignments: [String]

  func run() async throws {
    let store = try options.open()
    let (entity, key, assignments) = (entity, key, assignments)
    let id = try await store.write(author: "set") { transaction in
      let id = try RecordLookup(transaction).find(key, in: entity)
      try transaction.update(id) { record in
        for assignment in assignments {
          try Assignment(assignment, to: record.entity, now: transaction.now).apply(to: &record)
        }
      }
      return id
    }
    if !options.quiet { Message.say("changed \(id)") }
  }
}

/// Finds a record by what a person types.
struct RecordLookup {
  private let transaction: ReadTransaction

  init(_ transaction: ReadTransaction) { self.transaction = transaction }

  /// - Throws: `CommandError` if there is none, or if the key fits records of several feeds.
  func find(_ key: String, in entity: String) throws -> ObjectID {
    if key.hasPrefix("#"), let number = Int64(key.dropFirst()) {
      let id = ObjectID(entity: entity, number: number)
      guard try transaction.get(id) != nil else { throw missing(key, entity) }
      return id
    }
    let description = try transaction.description(of: entity)
    guard let attribute = keyAttribute(of: description),
      let value = Value(text: key, as: attribute.type.kind, now: .distantPast)
    else {
      throw CommandError(
        .usage, "\(entity) has no unique attribute to find \"\(key)\" by; use # and a number")
    }
    let found = try transaction.fetchIdentifiers(
      FetchRequest(
        entityName: entity, predicate: .comparison(attribute.name, .equal, value), fetchLimit: 2))
    guard let id = found.first else { throw missing(key, entity) }
    guard found.count == 1 else {
      throw CommandError(
        .usage,
        "several feeds have a \(entity) \"\(key)\"; use "
          + found.map { "#\($0.number)" }.joined(separator: " or "))
    }
    return id
  }

  /// The first attribute of the first unique index.
  private func keyAttribute(of entity: EntityDescription) -> AttributeDescription? {
    entity.indexes.first(where: \.isUnique)?.keys.first.flatMap { key in
      entity.attributes.first { $0.id == key.attributeID }
    }
  }

  private func missing(_ key: String, _ entity: String) -> CommandError {
    CommandError(.unavailable, "there is no \(entity) \"\(key)\"")
  }
}

/// `attribute=value` as typed.
struct Assignment {
  private let attribute: AttributeDescription
  private let value: Value

  init(_ text: String, to entity: EntityDescription, now: Date) throws {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else {
      throw CommandError(.usage, "\"\(text)\" is no assignment; write attribute=value")
    }
    guard let attribute = entity.attribute(named: String(parts[0])) else {
      throw StoreError.unknownAttribute(String(parts[0]), in: entity)
    }
    guard let value = attribute.value(of: String(parts[1]), now: now) else {
      throw CommandError(
        .usage, "\"\(parts[1])\" is no \(attribute.type.name) for \(attribute.name)")
    }
    self.attribute = attribute
    self.value = value
  }

  func apply(to record: inout Record) throws {
    if attribute.owner == .feed, try !record.feedID.isNull {
      throw CommandError(
        .notPermitted,
        "\(attribute.name) belongs to the feed; only local attributes can be changed here: "
          + record.entity.attributes.filter { $0.owner == .local }.map(\.name)
          .joined(separator: ", "))
    }
    try record.set(attribute.name, to: value)
  }
}

extension Record {
  /// Null where the entity takes no feed.
  fileprivate var feedID: Value {
    get throws { entity.attribute(named: "feedID") == nil ? .null : try self["feedID"] }
  }
}
