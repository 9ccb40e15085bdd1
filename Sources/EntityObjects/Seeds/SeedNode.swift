import EntityModel
import Foundation
import SchemaFiles
import StrictYAML

/// One value of a seed file of any format. It is read as the type that is expected.
protocol SeedNode: Sendable {
  associatedtype Mapping: SeedMapping where Mapping.Node == Self

  var place: SeedPlace { get }
  var isNull: Bool { get }
  func mapping() throws -> Mapping
  func sequence() throws -> [Self]
  func string() throws -> String
  /// Reads the value as an attribute value.
  ///
  /// - Parameter now: The date for the word `now`.
  func value(_ kind: ValueKind, now: Date) throws -> Value
}

/// The keys of an object, each of which must be read.
protocol SeedMapping<Node> {
  associatedtype Node: SeedNode

  /// Removes a key and returns its value; `nil` if the key is missing.
  mutating func optional(_ key: String) -> Node?
  /// Checks that all keys were read.
  ///
  /// - Throws: An error for the first key that was not read.
  func finish() throws
}

extension YAMLMapping: SeedMapping {}

extension YAMLNode: SeedNode {
  var place: SeedPlace { .line(line, column: column, file: file) }
}
