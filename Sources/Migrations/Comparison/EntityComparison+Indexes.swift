import EntityModel

extension EntityComparison {
  mutating func compareIndexes(_ before: EntityDescription, _ after: EntityDescription) {
    let name = after.name
    for index in before.indexes where !index.isHidden && after.index(named: index.name) == nil {
      differences.append("index \(name).\(index.name) is dropped")
      add(.dropIndex(entity: name, name: index.name), dropPhase(index, of: before))
    }
    for index in after.indexes where !index.isHidden {
      let definition = after.definition(of: index)
      let isUnique = index.isUnique ? "unique " : ""
      guard let old = before.index(named: index.name) else {
        differences.append(
          "\(isUnique)index \(name).\(index.name) on \(after.keyText(of: index)) is added")
        add(.createIndex(entity: name, definition), createPhase(index, of: after))
        continue
      }
      let isSame = before.definition(of: old) == definition
      if !isSame {
        differences.append(
          "\(isUnique)index \(name).\(index.name) on \(after.keyText(of: index)) has other keys or "
            + "rules")
      }
      if canStay(old, before, after, isSame: isSame) {
        if !isSame { add(.changeIndex(entity: name, definition), createPhase(index, of: after)) }
      } else {
        add(.dropIndex(entity: name, name: index.name), dropPhase(old, of: before))
        add(.createIndex(entity: name, definition), createPhase(index, of: after))
      }
    }
  }

  /// Returns true if all attributes of an index stay, so that it need not be dropped before they
  /// change.
  private func canStay(
    _ index: IndexDescription, _ before: EntityDescription, _ after: EntityDescription,
    isSame: Bool
  ) -> Bool {
    index.keys.allSatisfy { key in
      guard let old = before.attributes.first(where: { $0.id == key.attributeID }),
        let new = after.attribute(named: old.name), old.holdsLinks == new.holdsLinks
      else { return false }
      if old.holdsLinks { return isKept(new, of: after) }
      // An index that is unchanged follows its attributes, unless it would contain two lists
      // between the steps.
      let hasList = [old.type.kind, new.type.kind].contains(.strings)
      return old.type.kind == new.type.kind || isSame && !hasList
    }
  }

  private func dropPhase(_ index: IndexDescription, of entity: EntityDescription) -> Phase {
    entity.hasLink(in: index) ? .dropLinkIndexes : .dropIndexes
  }

  private func createPhase(_ index: IndexDescription, of entity: EntityDescription) -> Phase {
    entity.hasLink(in: index) ? .createLinkIndexes : .createIndexes
  }
}
