package import ArgumentParser
import EntityModel
package import EntityStore
import Foundation
internal import Glibc
import Migrations

extension CompletionKind {
  /// Values that are read from the store which the command line names.
  ///
  /// - Parameter values: Returns the values for a line. Without a store it is not called.
  package static func fromStore(
    _ values: @escaping @Sendable (Store, CompletedLine) throws -> [Completion]
  ) -> CompletionKind {
    .custom { words, index, _ in
      let line = CompletedLine(words, at: index, for: CompletionShell.requesting)
      return CompletionStore.read(line, values)
    }
  }

  /// No values. The script of bash otherwise offers those of the repeated argument that follows.
  package static let nothing = CompletionKind.list([])

  /// The formats of commands that print a table or one document.
  package static let tableOrJSON = CompletionKind.list(["table", "json"])

  /// The entities of the store; those of the system after an underscore.
  package static let entity = fromStore { store, line in
    try store.schema.entities.map(\.name)
      .filter { line.word.hasPrefix("_") || !$0.hasPrefix("_") }.map { Completion($0) }
  }

  /// A list of attributes, separated by commas.
  package static let attributes = fromStore { store, line in
    try line.attributes(in: store, after: ",=")
  }

  /// Sort keys, separated by commas: `updatedAt:desc,title`.
  package static let sortKeys = fromStore { store, line in
    line.part.contains(":")
      ? line.continued(["asc", "desc"], after: ":")
      : try line.attributes(in: store, after: ",")
  }

  /// A list of aggregates, separated by commas: `total=sum:duration`.
  package static let aggregates = fromStore { store, line in
    line.part.contains(":")
      ? try line.attributes(in: store, after: ":")
      : line.continued(AggregateFunction.allCases.map { $0.rawValue + ":" }, after: ",=")
  }

  /// An assignment: `favoriteAt=now`.
  package static let assignment = fromStore { store, line in
    guard let entity = try line.entity(in: store) else { return [] }
    guard let equals = line.word.firstIndex(of: "=") else {
      return entity.attributes.map { Completion($0.name + "=", $0.type.name) }
    }
    let attribute = entity.attributes.first { $0.name == line.word[..<equals] }
    switch attribute?.type.kind {
    case .date: return line.continued(["now", "null"], after: "=")
    case .bool: return line.continued(["true", "false", "null"], after: "=")
    default: return line.continued(["null"], after: "=")
    }
  }

  /// An index of the entity that the line names.
  package static let index = fromStore { store, line in
    try line.entity(in: store)?.indexes.map { Completion($0.name) } ?? []
  }

  /// A stored request.
  package static let template = fromStore { store, _ in
    try store.schema.templates.map { Completion($0.name) }
  }
}

/// The store that completions read.
private enum CompletionStore {
  /// Returns nothing if there is no store that can be read. Nothing is printed in any case, because
  /// it would be printed into the line that is typed.
  static func read(
    _ line: CompletedLine, _ values: (Store, CompletedLine) throws -> [Completion]
  ) -> [String] {
    silenceErrors()
    var options = Store.Options()
    options.isReadOnly = true
    options.endsOnPageFaults = true
    do {
      let store = try Store.open(
        at: folder(of: line), migrations: [], migrate: .never, options: options)
      return line.answers(try values(store, line))
    } catch {
      return []
    }
  }

  private static func folder(of line: CompletedLine) -> String {
    let environment = ProcessInfo.processInfo.environment
    let named = line.value(of: "--store")
    guard let named, named.hasPrefix("~/"), let home = environment["HOME"] else {
      return StoreOptions.folder(named, environment)
    }
    return home + named.dropFirst()
  }

  private static func silenceErrors() {
    let null = open("/dev/null", O_WRONLY)
    guard null >= 0 else { return }
    dup2(null, STDERR_FILENO)
    close(null)
  }
}

extension CompletedLine {
  /// The part of a list that is being typed.
  fileprivate var part: Substring { word[(word.lastIndex(of: ",") ?? word.startIndex)...] }

  /// The first entity of the store that is a word of the line.
  fileprivate func entity(in store: Store) throws -> EntityDescription? {
    let schema = try store.schema
    return words.dropFirst().lazy.compactMap { schema.entity(named: $0) }.first
  }

  fileprivate func attributes(in store: Store, after marks: String) throws -> [Completion] {
    continued(try entity(in: store)?.attributes.map(\.name) ?? [], after: marks)
  }

  /// The values, each after what the word has up to the last of the marks.
  fileprivate func continued(_ values: [String], after marks: String) -> [Completion] {
    let typed = word.lastIndex { marks.contains($0) }.map { word[...$0] } ?? ""
    return values.map { Completion(typed + $0) }
  }
}
