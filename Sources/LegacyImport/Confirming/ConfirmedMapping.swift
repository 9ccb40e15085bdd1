package import EntityModel
import StrictYAML
import TextFormats

/// A mapping file after a person's choices, and the changes of the schema that they need.
///
/// Only the entries of these marks change; all other text of the file stays as it is.
package struct ConfirmedMapping {
  /// The text of the mapping file.
  package private(set) var mapping: String
  /// The changes, without those that two choices have in common.
  package private(set) var changes: [ReadingChange] = []
  /// The names of the properties whose marks were removed.
  package private(set) var names: [String] = []
  /// The marks that are left, as `Entity.property: why`.
  package private(set) var remaining: [String] = []

  /// - Parameter mapping: The text of the mapping file.
  /// - Parameter schema: The schema to which the mapping fits.
  /// - Parameter includesOthers: True to confirm all other marks as they are.
  /// - Throws: `YAMLError` for a mapping that does not fit; `ImportError` for a choice that names
  ///   no mark or no reading of it.
  package init(
    of mapping: String, file: String, schema: Schema, _ choices: [MarkChoice],
    includesOthers: Bool = false
  ) throws {
    self.mapping = mapping
    let read = try MappingFile.read(
      try MappingFile.parse(Array(mapping.utf8), file: file), schema: schema)
    try Self.check(choices, against: read)
    var entities = read.entities
    for place in entities.indices {
      for choice in Self.choices(in: entities[place], choices, includesOthers) {
        try confirm(choice, &entities[place], read)
      }
    }
    self.mapping = try Self.text(of: mapping, file, from: read.entities, to: entities)
    var after = read
    after.entities = entities
    remaining = after.unconfirmed
  }

  /// Checks that the mapping fits the schema after the changes.
  ///
  /// - Throws: `YAMLError`
  package func check(against schema: Schema, file: String) throws {
    _ = try MappingFile.read(
      try MappingFile.parse(Array(mapping.utf8), file: file), schema: schema)
  }

  private static func check(_ choices: [MarkChoice], against mapping: ImportMapping) throws {
    let marks = mapping.entities.flatMap { entity in
      entity.marks.map { "\(entity.entity).\($0)" }
    }
    var seen: Set<String> = []
    for choice in choices {
      guard marks.contains(choice.name) else {
        throw ImportError(
          .mapping, "no guess of this name is marked unconfirmed", [("name", choice.name)],
          advice: marks.isEmpty
            ? "the mapping has no marks"
            : NearestName.advice(
              on: choice.name, among: marks, otherwise: "marked are \(marks.shortList)"))
      }
      guard seen.insert(choice.name).inserted else {
        throw ImportError(.mapping, "a guess is named twice", [("name", choice.name)])
      }
    }
  }

  /// Returns the choices for the marks of an entity.
  private static func choices(
    in entity: EntityMapping, _ choices: [MarkChoice], _ includesOthers: Bool
  ) -> [MarkChoice] {
    entity.marks.compactMap { mark in
      let name = "\(entity.entity).\(mark)"
      return choices.first { $0.name == name } ?? (includesOthers ? MarkChoice(name) : nil)
    }
  }

  // MARK: Choices

  private mutating func confirm(
    _ choice: MarkChoice, _ entity: inout EntityMapping, _ mapping: ImportMapping
  ) throws {
    if !names.contains(choice.name) { names.append(choice.name) }
    if let place = entity.attributes.firstIndex(where: {
      $0.attribute == choice.property && $0.unconfirmed != nil
    }) {
      let type = entity.attributes[place].type
      try entity.attributes[place].confirm(choice.reading, of: choice.name)
      if entity.attributes[place].type != type {
        add(
          .retype(
            entity: entity.entity, attribute: choice.property, entity.attributes[place].type))
      }
    } else if let place = entity.relationships.firstIndex(where: {
      $0.relationship == choice.property
    }) {
      try confirmRelationship(choice, at: place, of: &entity, mapping)
    }
  }

  /// Confirms a relationship: as it is, or with another table (its name), without it (`none`), or
  /// with another treatment of orphans (`drop`, `reject`).
  private mutating func confirmRelationship(
    _ choice: MarkChoice, at place: Int, of entity: inout EntityMapping, _ mapping: ImportMapping
  ) throws {
    let relationship = entity.relationships[place]
    let columns: [String] =
      if case .columns(let columns) = relationship.source { columns } else { [] }
    if choice.reading == "none" {
      let read = Set(entity.key + entity.attributes.compactMap(\.column))
      guard !columns.isEmpty, read.isSuperset(of: columns) else {
        throw ImportError(
          .mapping, "nothing else reads the column of the relationship", [("name", choice.name)],
          advice: "remove it by hand, and map its column or list it in skip")
      }
      entity.relationships.remove(at: place)
      return add(.dropRelationship(entity: entity.entity, relationship: choice.property))
    }
    entity.relationships[place].unconfirmed = nil
    if let reading = choice.reading {
      try apply(reading, of: choice, to: &entity.relationships[place], entity, mapping)
    }
    // The plain column was kept for the case that the guess is wrong.
    for attribute in entity.attributes
    where attribute.isPlain(of: columns) && !entity.isNeeded(attribute) {
      entity.attributes.removeAll { $0.attribute == attribute.attribute }
      add(.dropAttribute(entity: entity.entity, attribute: attribute.attribute))
    }
  }

  private mutating func apply(
    _ reading: String, of choice: MarkChoice, to relationship: inout RelationshipMapping,
    _ entity: EntityMapping, _ mapping: ImportMapping
  ) throws {
    let destination = mapping.entities.first { $0.table == relationship.table }?.entity
    if let target = mapping.entities.first(where: { $0.table == reading }) {
      relationship.table = target.table
      if target.entity == destination { return }
      return add(
        .retarget(
          entity: entity.entity, relationship: choice.property, destination: target.entity))
    }
    guard let orphan = RelationshipMapping.Orphan(rawValue: reading) else {
      let words = mapping.entities.map(\.table) + ["none", "drop", "reject"]
      throw ImportError(
        .mapping, "this is no reading of a relationship",
        [("relationship", choice.name), ("reading", reading)],
        advice: NearestName.advice(
          on: reading, among: words,
          otherwise: "name a table that is mapped, or use none, drop or reject"))
    }
    relationship.orphan = orphan
  }

  private mutating func add(_ change: ReadingChange) {
    if !changes.contains(change) { changes.append(change) }
  }

  // MARK: Text

  private static func text(
    of text: String, _ file: String, from old: [EntityMapping], to new: [EntityMapping]
  ) throws -> String {
    let text = try YAMLEdits.text(of: text, file: file) { root, edits in
      for (place, node) in try root.entities().enumerated() {
        var keys = try node.mapping()
        if let attributes = keys.optional("attributes") {
          let before = Dictionary(grouping: old[place].attributes, by: \.attribute)
          let after = Dictionary(grouping: new[place].attributes, by: \.attribute)
          try edits.change(attributes, removing: { after[$0] == nil }) { name in
            after[name] == before[name] ? nil : after[name]?.first?.written
          }
        }
        if let relationships = keys.optional("relationships") {
          let before = Dictionary(grouping: old[place].relationships, by: \.relationship)
          let after = Dictionary(grouping: new[place].relationships, by: \.relationship)
          try edits.change(relationships, removing: { after[$0] == nil }) { name in
            after[name] == before[name] ? nil : after[name]?.first?.written
          }
        }
      }
    }
    return try YAMLEdits.text(of: text, file: file) { root, edits in
      for (place, node) in try root.entities().enumerated() {
        let isEmpty = [
          "attributes": new[place].attributes.isEmpty && !old[place].attributes.isEmpty,
          "relationships": new[place].relationships.isEmpty && !old[place].relationships.isEmpty,
        ]
        try edits.change(node, removing: { isEmpty[$0] == true })
      }
    }
  }
}

extension YAMLNode {
  fileprivate func entities() throws -> [YAMLNode] {
    var keys = try mapping()
    return try keys.required("entities").sequence()
  }
}

extension AttributeMapping {
  fileprivate var column: String? { if case .column(let column) = source { column } else { nil } }

  /// Returns true if the attribute only has the value of one of the columns.
  fileprivate func isPlain(of columns: [String]) -> Bool {
    guard let column else { return false }
    return columns.contains(column) && conversion == .none && content == .value
  }
}

extension EntityMapping {
  /// The names of the properties that are marked.
  fileprivate var marks: [String] {
    attributes.filter { $0.unconfirmed != nil }.map(\.attribute)
      + relationships.filter { $0.unconfirmed != nil }.map(\.relationship)
  }

  /// Returns true if the attribute identifies the rows.
  fileprivate func isNeeded(_ attribute: AttributeMapping) -> Bool {
    match.contains(attribute.attribute) || attribute.column.map(key.contains) == true
  }
}
