package import EntityModel
import LMDB

/// One relationship, bound to positions, indexes and their trees, with the way in which its links
/// are read.
package struct RelationshipLayout: Sendable {
  package let description: RelationshipDescription
  package let inverse: RelationshipDescription
  package let access: Access

  package enum Access: Sendable {
    /// The own attribute at this position holds the id of the other record.
    ///
    /// - Parameter mayDangle: True if that record may have been deleted since (`noAction`).
    case attribute(position: Int, mayDangle: Bool)
    /// The other record has the own values at these positions in its unique index.
    case key(IndexLayout, own: [Int])
    /// The index of the other records begins with the own record id.
    case holders(IndexLayout)
    /// The index of the other records begins with the own values at these positions.
    case keyHolders(IndexLayout, own: [Int])
    /// The links are records of this hidden entity, whose index is on own id, place, other id. The
    /// links of a relationship that is its own inverse are in two ranges: `back` is the index on
    /// other id and own id.
    case links(IndexLayout, entity: String, back: IndexLayout?)
  }

  package var name: String { description.name }
  package var isToMany: Bool { description.isToMany }

  /// Binds a relationship.
  ///
  /// - Parameter trees: The trees of all indexes of the schema, by index id.
  init(
    _ description: RelationshipDescription, of entity: EntityDescription, in schema: Schema,
    trees: [Int: Tree]
  ) throws(StoreError) {
    let binding: RelationshipBinding
    do throws(RelationshipBinding.Problem) {
      binding = try RelationshipBinding(description, of: entity, in: schema)
    } catch {
      throw StoreError(
        .damaged, "a relationship of the catalog contradicts itself",
        [("entity", entity.name), ("relationship", description.name), ("problem", error.text)],
        advice: "run `mooring check`, then restore a backup")
    }
    func layout(_ index: RelationshipBinding.Index) throws(StoreError) -> IndexLayout {
      guard let tree = trees[index.description.id],
        let number = index.entity.indexes.firstIndex(where: { $0.id == index.description.id })
      else { throw .damaged("an index of the catalog has no tree", entity: index.entity.name) }
      return try IndexLayout(index.description, of: index.entity, tree: tree, number: number)
    }
    self.description = description
    inverse = binding.inverse
    switch binding.access {
    case .attribute(let position):
      access = .attribute(
        position: position, mayDangle: binding.inverse.deleteRule == .noAction)
    case .key(let index, let own): access = .key(try layout(index), own: own)
    case .holders(let index): access = .holders(try layout(index))
    case .keyHolders(let index, let own): access = .keyHolders(try layout(index), own: own)
    case .links(let index, let back):
      access = .links(
        try layout(index), entity: index.entity.name,
        back: try back.map { (index) throws(StoreError) in try layout(index) })
    }
  }
}
