package import EntityModel

extension Schema {
  /// The first entity that is not the store's own.
  package var model: EntityDescription {
    get { entities[modelNumber] }
    set { entities[modelNumber] = newValue }
  }

  private var modelNumber: Int { entities.firstIndex { !$0.isSystem } ?? entities.endIndex }
}
