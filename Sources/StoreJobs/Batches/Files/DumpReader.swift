package import EntityModel
package import EntityObjects
import EntityStore
import Foundation

/// Converts the lines of a dump of all entities to records.
package struct DumpReader: Sendable {
  private let entities: [String: EntityDescription]
  private let attributes: [String: [String: AttributeDescription]]

  package init(_ schema: Schema) {
    entities = Dictionary(uniqueKeysWithValues: schema.entities.map { ($0.name, $0) })
    attributes = entities.mapValues { entity in
      Dictionary(uniqueKeysWithValues: entity.attributes.map { ($0.name, $0) })
    }
  }

  package func item(_ item: BatchFileItem) -> BatchItem {
    do {
      let (id, values) = try record(item.content)
      return BatchItem(id, values, place: item.place)
    } catch {
      return BatchItem(failure: error, place: item.place)
    }
  }

  private func record(_ content: BatchFileItem.Content) throws -> (ObjectID, [String: Value]) {
    switch content {
    case .malformed(let problem): throw BatchFileError(.malformed, problem)
    case .fields: throw notADump
    case .json(let text):
      var members = try JSONScalar.members(of: text)
      guard case .string(let name)? = members.removeValue(forKey: "_entity"),
        case .int64(let number)? = members.removeValue(forKey: "_id")
      else { throw notADump }
      guard let entity = entities[name], let attributes = attributes[name] else {
        throw BatchFileError(
          .malformed,
          "the store has no entity \"\(name)\"; it needs the schema of the dump's store")
      }
      let values = try Dictionary(
        uniqueKeysWithValues: members.map { member, json in
          guard let attribute = attributes[member] else {
            throw StoreError.unknownAttribute(member, in: entity)
          }
          return (member, try value(of: json, attribute))
        })
      return (ObjectID(entity: name, number: number), values)
    }
  }

  private func value(of json: JSONScalar, _ attribute: AttributeDescription) throws -> Value {
    let kind = attribute.type.kind
    let value: Value? =
      switch (kind, json) {
      case (_, .null): .null
      case (_, .string(let text)): Value(exactText: text, as: kind)
      case (.int64, .int64(let number)): .int64(number)
      case (.double, .int64(let number)): .double(Double(number))
      case (.double, .number(let number, _)): .double(number)
      case (.bool, .bool(let flag)): .bool(flag)
      case (.strings, .strings(let texts)): .strings(texts)
      default: nil
      }
    guard let value else { throw BatchFileError(misfit: json.text, attribute) }
    return value
  }

  private var notADump: BatchFileError {
    BatchFileError(
      .malformed,
      "a record of a dump names its _entity and _id, as `mooring-dump records` prints them; "
        + "to insert other items, name their entity before the file")
  }
}
