extension FormerNames {
  /// Creates the names from the renaming identifiers of a model.
  init(_ source: CoreDataSource, _ targets: ImportTargets) {
    for root in source.model.entities where root.superentity == nil {
      guard let table = source.layout.tables[root.name], let former = root.renamingIdentifier,
        former != root.name
      else { continue }
      tables[table] = "Z" + former.uppercased()
    }
    for entity in source.model.entities {
      if let former = entity.renamingIdentifier, former != entity.name {
        entities[entity.name] = former
      }
      for attribute in entity.attributes {
        add(attribute.renamingIdentifier, attribute.name, of: entity.name, source, targets)
      }
      for relationship in entity.relationships {
        add(relationship.renamingIdentifier, relationship.name, of: entity.name, source, targets)
      }
    }
  }

  private mutating func add(
    _ former: String?, _ name: String, of entity: String, _ source: CoreDataSource,
    _ targets: ImportTargets
  ) {
    guard let former, former != name else { return }
    let property = StoreLayout.Property(entity, name)
    if let table = source.layout.tables[entity],
      let column = source.layout.attributes[property] ?? source.layout.references[property]?.column
    {
      columns[table, default: [:]][column] = "Z" + former.uppercased()
    }
    // The objects of an entity are in the targets of its subentities, too.
    for place in targets.places(of: entity) {
      let target = targets.all[place]
      properties[target.name, default: [:]][target.attributeNames[property] ?? name] = former
    }
  }
}
