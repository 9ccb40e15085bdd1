import EntityModel
import Foundation

extension PredicateExpressions.KeyPath: TranslatableExpression {
  func translate(_ translation: inout PredicateTranslation) throws -> Cases {
    try translation.cases(of: root).flatMap { term in
      switch term {
      case .constant(let value):
        guard let value = value as? Root.Output else { throw unknown }
        return Cases(.captured(value[keyPath: keyPath]))
      case .record(let path, _):
        if let link = Root.Output.self as? any RelationshipLink.Type {
          guard link.leadsToTheRecord(keyPath) else { throw unknown }
          return Cases(term)
        }
        guard let entity = Root.Output.self as? any Entity.Type else { throw unknown }
        return Cases(entity.term(at: keyPath, of: path))
      case .part(let path, let entity, let start):
        guard let whole = start.appending(path: keyPath) else { throw unknown }
        return Cases(entity.term(at: whole, of: path))
      case .records:
        if let link = Root.Output.self as? any RelationshipLink.Type {
          guard link.leadsToTheRecord(keyPath) else { throw unknown }
          return Cases(term)
        }
        return try count(term)
      case .field: return try count(term)
      case .null, .range: throw unknown
      }
    }
  }

  /// Returns the cases of `isEmpty` and `count` of lists and to-many relationships, and of
  /// `isEmpty` of texts.
  private func count(_ term: Term) throws -> Cases {
    let isText = Root.Output.self == String.self
    switch kind {
    case .collectionIsEmpty where isText: return try Term.equal(term, .constant(""))
    case .collectionIsEmpty: return try Term.equal(try term.count(), .constant(0))
    case .collectionCount where isText: throw StoreError.untranslatable("the count of a text")
    case .collectionCount: return Cases(try term.count())
    default:
      if let kept = Root.Output.self as? any KeptRawValue.Type, kept.isRawValue(keyPath) {
        return Cases(term)
      }
      throw unknown
    }
  }

  private var unknown: StoreError { .unknownKeyPath(keyPath, of: Root.Output.self) }
}

extension Term {
  /// Returns the number of elements or records as a term.
  fileprivate func count() throws -> Term {
    switch self {
    case .records(let path), .field(.path(let path), _):
      return .field(.collection(path, .count, nil), isOptional: false)
    default: throw StoreError.untranslatable("count")
    }
  }
}

extension Entity {
  /// Returns the term of a property of this type.
  ///
  /// - Parameter path: The path of the record; empty for the record that the predicate is about.
  fileprivate static func term(at keyPath: AnyKeyPath, of path: String) -> Term {
    func joined(_ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }
    if let attribute = attributes.first(where: { $0.keyPath == keyPath }) {
      return .field(.path(joined(attribute.name)), isOptional: attribute.isOptional)
    }
    if let relationship = relationships.first(where: { $0.keyPath == keyPath }) {
      let path = joined(relationship.name)
      return relationship.isToMany
        ? .records(path: path) : .record(path: path, isOptional: relationship.isOptional)
    }
    return .part(path: path, entity: self, keyPath: keyPath)
  }
}
