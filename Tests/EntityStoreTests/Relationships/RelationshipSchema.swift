import EntityModel
import EntityStore
import Migrations

/// `Node` and `Leaf`, linked in every way that links are stored.
enum RelationshipSchema {
  static let source = MigrationSource(embedded: [("0001_links", Array(text.utf8))])

  static let text = """
    line: links
    summary: Every storage of links
    steps:
      - createEntity:
          name: Node
          attributes:
            - { name: code, type: string, optional: true }
      - createIndex: { on: Node, name: byCode, keys: [code], unique: true, sparse: true }
      - createEntity:
          name: Leaf
          attributes:
            - { name: rank, type: int64, optional: true }
            - { name: nodeCode, type: string, optional: true }
            - { name: badgeCode, type: string, optional: true }
      - createRelationship: { on: Leaf, name: owner, to: Node, inverse: { name: leaves } }
      - createRelationship: { on: Leaf, name: list, to: Node, inverse: { name: items, ordered: true } }
      - createRelationship: { on: Leaf, name: ranked, to: Node, inverse: { name: ranking, orderBy: rank } }
      - createRelationship: { on: Leaf, name: partner, to: Node, inverse: { name: partner, many: false } }
      - createRelationship: { on: Leaf, name: tags, to: Node, many: true, inverse: { name: tagged } }
      - createRelationship:
          { on: Leaf, name: playlist, to: Node, many: true, ordered: true, inverse: { name: playlists, ordered: true } }
      - createRelationship:
          { on: Leaf, name: half, to: Node, many: true, inverse: { name: halves, ordered: true } }
      - createRelationship:
          on: Leaf
          name: keyed
          to: Node
          key: { nodeCode: code }
          inverse: { name: keyedLeaves, orderBy: rank }
      - createRelationship:
          { on: Leaf, name: badge, to: Node, key: { badgeCode: code }, inverse: { name: bearer, many: false } }
      - createRelationship: { on: Leaf, name: loose, to: Node }
      - createRelationship: { on: Node, name: extras, to: Leaf, many: true }
      - createRelationship: { on: Node, name: album, to: Leaf, many: true, ordered: true }
      - createRelationship: { on: Node, name: parent, to: Node, inverse: { name: children, ordered: true } }
      - createRelationship: { on: Node, name: friends, to: Node, many: true, inverse: { name: friends } }
      - createRelationship: { on: Node, name: spouse, to: Node, inverse: { name: spouse, many: false } }
      - createRelationship: { on: Node, name: follows, to: Node, many: true, inverse: { name: followers } }
    """
}
