public import EntityModel

/// A record as untyped values, by attribute name: a copy, independent of any transaction.
public struct Record: Sendable {
  public let id: ObjectID
  package let layout: EntityLayout
  /// The values by attribute position.
  package var values: [Value]

  package init(id: ObjectID, layout: EntityLayout, values: [Value]) {
    self.id = id
    self.layout = layout
    self.values = values
  }

  /// Decodes a record that is read in place.
  ///
  /// - Throws: `damaged`, with entity and id.
  package init(_ view: RecordView, id: Int64, of entity: EntityLayout) throws(StoreError) {
    let values = try entity.decoding(id) { () throws(RecordDamage) in try view.values() }
    self.init(id: ObjectID(entity: entity.name, number: id), layout: entity, values: values)
  }

  public var entity: EntityDescription { layout.description }

  /// The value of an attribute.
  ///
  /// - Throws: `unknownAttribute`.
  public subscript(_ attribute: String) -> Value {
    get throws(StoreError) { values[try layout.position(of: attribute)] }
  }

  /// Changes the value of an attribute in this copy. The rules of the attribute are checked when
  /// the record is written.
  ///
  /// - Throws: `unknownAttribute`; the record is unchanged.
  public mutating func set(_ attribute: String, to value: Value) throws(StoreError) {
    values[try layout.position(of: attribute)] = value
  }

  /// The names and values, in the order of the schema.
  public var fields: [(name: String, value: Value)] {
    zip(layout.description.attributes, values).map { ($0.name, $1) }
  }
}
