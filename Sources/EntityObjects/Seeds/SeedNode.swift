import EntityModel
import Foundation
import SchemaFiles
import StrictYAML

/// One value of a seed file, of whatever format: read by the type that is expected.
protocol SeedNode: Sendable {
  associatedtype Mapping: SeedMapping where Mapping.Node == Self

  var place: SeedPlace { get }
  var isNull: Bool { get }
  func mapping() throws -> Mapping
  func sequence() throws -> [Self]
  func string() throws -> String
  /// - Parameter now: What the word `now` stands for in a date.
  func value(_ kind: ValueKind, now: Date) throws -> Value
}

/// The keys of an object, each of which must be taken.
protocol SeedMapping<Node> {
  associatedtype Node: SeedNode

  /// Takes the value of a key, if it is there.
  mutating func optional(_ key: String) -> Node?
  /// - Throws: For the first key that was not taken.
  func finish() throws
}

extension YAMLMapping: SeedMapping {}

extension YAMLNode: SeedNode {
  var place: SeedPlace { .line(line, column: column, file: file) }
}
