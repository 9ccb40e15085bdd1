import EntityModel

/// Proposes the attributes of a target entity and their columns, from the attributes of the model.
///
/// Attributes of the same name and type in two branches of a merged hierarchy become one.
struct AttributeSuggestion {
  private struct Key: Hashable {
    let name: String
    let type: AttributeType
  }

  let source: CoreDataSource

  /// Adds the attributes to the target, and their mappings to its members.
  func apply(to target: inout ImportTarget) {
    var placeByKey: [Key: Int] = [:]
    var membersWith: [Int] = []
    for memberPlace in target.members.indices {
      let member = target.members[memberPlace]
      for entity in source.model.lineage(of: member.entity.name).reversed() {
        for attribute in entity.attributes {
          let property = StoreLayout.Property(entity.name, attribute.name)
          guard let column = source.layout.attributes[property], let type = attribute.type.target
          else { continue }
          let key = Key(name: attribute.name, type: type)
          if placeByKey[key] == nil {
            placeByKey[key] = target.attributes.count
            membersWith.append(0)
            target.attributes.append(description(of: attribute, type, entity, &target.names))
          }
          guard let place = placeByKey[key] else { continue }
          membersWith[place] += 1
          target.attributeNames[property] = target.attributes[place].name
          let facts = source.facts[member.table]
          let found = facts?.facts(of: column, entity: member.number) ?? ColumnFacts()
          let empty = empty(attribute, found)
          let isCertain = facts?.isComplete == true && empty == 0
          if attribute.isOptional || !isCertain { target.attributes[place].isOptional = true }
          var mapping = mapping(of: attribute, type, column, found)
          mapping.attribute = target.attributes[place].name
          if !attribute.isOptional, !isCertain {
            mapping.evidence.append(
              empty > 0
                ? "required by the model, but \(empty) of \(found.total) rows have none: optional"
                : "required by the model, but not all rows were looked at: optional")
          }
          let doubts = [source.doubts[property], mapping.unconfirmed].compactMap(\.self)
          mapping.unconfirmed = doubts.isEmpty ? nil : doubts.joined(separator: "; ")
          target.members[memberPlace].attributes.append(mapping)
        }
      }
    }
    for place in target.attributes.indices where membersWith[place] < target.members.count {
      target.attributes[place].isOptional = true
    }
  }

  private func description(
    of attribute: ManagedObjectModel.Attribute, _ type: AttributeType,
    _ entity: ManagedObjectModel.Entity, _ names: inout UniqueNames
  ) -> AttributeDescription {
    let name = names.claim(
      attribute.name, fallback: "\(attribute.name)Of\(entity.name)", otherwise: "attribute")
    let defaultValue = attribute.defaultValue.kind == type.kind ? attribute.defaultValue : .null
    return AttributeDescription(
      name: name, type: type, isOptional: false, defaultValue: defaultValue, owner: .local)
  }

  /// Returns the number of rows that would have no value.
  private func empty(_ attribute: ManagedObjectModel.Attribute, _ found: ColumnFacts) -> Int {
    var empty = found.nulls
    if attribute.type == .date { empty += found.placeholders[.distantPast, default: 0] }
    if attribute.isExternal { empty += source.missingFiles(found) }
    return empty
  }

  private func mapping(
    of attribute: ManagedObjectModel.Attribute, _ type: AttributeType, _ column: String,
    _ found: ColumnFacts
  ) -> AttributeMapping {
    var mapping = AttributeMapping(attribute: attribute.name, type: type, source: .column(column))
    mapping.evidence = evidence(of: attribute, found)
    if attribute.isExternal { mapping.content = .external }
    if attribute.type == .date {
      mapping.conversion.date = .coreDataSeconds
      addPlaceholders(found, of: attribute, to: &mapping)
    }
    return mapping
  }

  /// Takes the dates that programs use in place of none for null. One of them is a date that a
  /// record could hold, so that a person decides.
  private func addPlaceholders(
    _ found: ColumnFacts, of attribute: ManagedObjectModel.Attribute,
    to mapping: inout AttributeMapping
  ) {
    if let count = found.placeholders[.distantPast] {
      mapping.conversion.nullValues.insert(DatePlaceholder.distantPast.word)
      mapping.evidence.append("\(count) are Date.distantPast, which stands for no date")
    }
    guard let count = found.placeholders[.distantFuture] else { return }
    let date = CoreDataDate.value(DatePlaceholder.distantFuture.rawValue)?.text ?? "a date"
    guard attribute.isOptional else {
      mapping.evidence.append("\(count) are Date.distantFuture, kept as \(date)")
      return
    }
    mapping.conversion.nullValues.insert(DatePlaceholder.distantFuture.word)
    mapping.unconfirmed =
      "\(count) are Date.distantFuture: as it is no date; coreDataSeconds gives \(date)"
  }

  // MARK: Evidence

  private func evidence(
    of attribute: ManagedObjectModel.Attribute, _ found: ColumnFacts
  ) -> [String] {
    var text = "\(source.origin): \(attribute.name): \(attribute.type.name)"
    if attribute.isOptional { text += ", optional" }
    if attribute.isExternal { text += ", long values in files" }
    if let transformer = attribute.transformer { text += ", transformer \(transformer)" }
    var evidence = [text + "; " + found.text]
    if attribute.isDerived {
      evidence.append("derived by Core Data; imported as it is in the file, and not updated here")
    }
    switch attribute.type {
    case .date: if let dates = found.dates { evidence.append(dates) }
    case .uuid where found.blobs > found.blobsOf16Bytes:
      evidence.append("\(found.blobs - found.blobsOf16Bytes) blobs are not of 16 bytes")
    case .float: evidence.append("a 32-bit number, kept as the double that the file has")
    case .transformable: evidence += archives(found)
    case .binary where found.otherBlob == nil: evidence += archives(found)
    default: break
    }
    if attribute.isExternal, found.blobs > 0 {
      evidence.append(
        "\(found.blobsHeldInline) in the file itself, \(found.blobsNamingFiles) in files, "
          + "\(found.blobsOfNoStorage) neither")
      let missing = source.missingFiles(found)
      if missing > 0 { evidence.append("\(missing) of the files are missing") }
    }
    return evidence
  }

  private func archives(_ found: ColumnFacts) -> [String] {
    if let reason = found.otherBlob { return ["kept as bytes: \(reason)"] }
    guard !found.archiveClasses.isEmpty else { return [] }
    return [
      "archives of \(found.archiveClasses.sorted().joined(separator: ", ")); to have the values, "
        + "name these in archive and choose the type"
    ]
  }
}

extension ManagedObjectModel.AttributeKind {
  /// The type of the attribute in the store; `nil` for a kind that has no column of its own.
  var target: AttributeType? {
    switch self {
    case .int16, .int32, .int64: .int64
    case .decimal: .decimal
    case .double, .float: .double
    case .string: .string
    case .bool: .bool
    case .date: .date
    case .binary, .transformable: .data
    case .uuid: .uuid
    case .uri: .url
    case .undefined, .objectID, .composite: nil
    }
  }

  /// The name that Xcode shows.
  var name: String {
    switch self {
    case .undefined: "Undefined"
    case .int16: "Integer 16"
    case .int32: "Integer 32"
    case .int64: "Integer 64"
    case .decimal: "Decimal"
    case .double: "Double"
    case .float: "Float"
    case .string: "String"
    case .bool: "Boolean"
    case .date: "Date"
    case .binary: "Binary Data"
    case .uuid: "UUID"
    case .uri: "URI"
    case .transformable: "Transformable"
    case .objectID: "Object ID"
    case .composite: "Composite"
    }
  }
}
