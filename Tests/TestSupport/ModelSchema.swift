import EntityStore
public import Migrations

extension MigrationSource {
  /// `Sample`, an entity with every type of attribute and every kind of index, and `Wide`, whose
  /// index has as many keys of varying size as an index may have.
  public static let model = MigrationSource(embedded: ModelSchema.files)

  /// The same line, one migration further.
  public static let grownModel = MigrationSource(embedded: ModelSchema.grownFiles)
}

public enum ModelSchema {
  public static let files: [(name: String, bytes: [UInt8])] = [
    ("0001_model", Array(first.utf8))
  ]

  public static let grownFiles = files + [("0002_levels", Array(second.utf8))]

  public static let second = """
    line: model
    summary: Levels
    steps:
      - addAttribute: { to: Sample, name: level, type: int64, default: 3 }
      - addAttribute: { to: Sample, name: remark, type: string, optional: true }
      - createIndex: { on: Sample, name: byLevel, keys: [level desc, name] }
    """

  public static let first = """
    line: model
    summary: Every type of attribute and every kind of index
    steps:
      - createEntity:
          name: Sample
          attributes:
            - { name: name, type: string }
            - { name: rank, type: int64, default: 0 }
            - { name: code, type: int64, optional: true }
            - { name: score, type: double, optional: true }
            - { name: price, type: decimal, optional: true }
            - { name: isOpen, type: bool, optional: true }
            - { name: title, type: string, optional: true }
            - { name: dueAt, type: date, optional: true }
            - { name: token, type: uuid, optional: true }
            - { name: blob, type: data, optional: true }
            - { name: link, type: url, optional: true }
            - { name: tags, type: strings, optional: true }
            - { name: kind, type: enum, values: { small: 1, large: 2 }, optional: true }
            - { name: state, type: enum, values: [fresh, played], default: fresh }
            - { name: note, type: string, optional: true, owner: local }
            - { name: label, type: string, optional: true }
      - createIndex: { on: Sample, name: byName, keys: [name], unique: true }
      - createIndex: { on: Sample, name: byRank, keys: [rank] }
      - createIndex: { on: Sample, name: byScore, keys: [score desc] }
      - createIndex: { on: Sample, name: byPrice, keys: [price] }
      - createIndex: { on: Sample, name: byTitle, keys: [title desc] }
      - createIndex: { on: Sample, name: byDue, keys: [dueAt desc], sparse: true }
      - createIndex: { on: Sample, name: byKind, keys: [kind, score desc] }
      - createIndex: { on: Sample, name: byCode, keys: [code, isOpen], unique: true, sparse: true }
      - createIndex: { on: Sample, name: byTag, keys: [tags] }
      - createIndex: { on: Sample, name: byRankAndTag, keys: [rank desc, tags] }
      - createIndex: { on: Sample, name: byTitleAndRank, keys: [title, rank desc] }
      - createIndex: { on: Sample, name: byPriceAndTitle, keys: [price desc, title, state] }
      - createIndex: { on: Sample, name: byToken, keys: [token] }
      - createIndex: { on: Sample, name: byBlob, keys: [blob desc] }
      - createIndex: { on: Sample, name: byLink, keys: [link], sparse: true }
      - createIndex: { on: Sample, name: byOpen, keys: [isOpen, dueAt] }
      - createIndex: { on: Sample, name: byTitleLocalized, keys: [title localized] }
      - createIndex: { on: Sample, name: byTitleInChinese, keys: [title localized(zh) desc] }
      - createIndex: { on: Sample, name: byTitleFolded, keys: [title caseInsensitive, rank] }
      - createIndex:
          { on: Sample, name: byLabel, keys: [label caseInsensitive], unique: true, sparse: true }
      - createIndex:
          on: Sample
          name: byRankAndText
          keys: [rank, note localized desc, title caseInsensitive, score desc]
      - createEntity:
          name: Wide
          attributes:
            - { name: a, type: string, optional: true }
            - { name: b, type: string, optional: true }
            - { name: c, type: string, optional: true }
            - { name: d, type: string, optional: true }
            - { name: e, type: string, optional: true }
            - { name: f, type: string, optional: true }
            - { name: g, type: string, optional: true }
            - { name: h, type: string, optional: true }
      - createIndex: { on: Wide, name: byAll, keys: [a, b desc, c, d, e, f desc, g, h] }
    """
}
