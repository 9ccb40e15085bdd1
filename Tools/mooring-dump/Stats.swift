import ArgumentParser
import Console
import EntityStore
import Foundation

struct Stats: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints sizes: the file, its pages, each entity's records and indexes.",
    discussion: """
      mooring-dump stats --all

      The table has the sums of the system entities, which Mooring itself uses, in one line. JSON \
      always has every entity.
      """)

  @OptionGroup var options: StoreOptions
  @Flag(help: "List each system entity, too.") var all = false
  @Option(help: "table or json.", completion: .tableOrJSON) var format = OutputFormat.table

  func validate() throws { try format.require(.table, .json) }

  func run() async throws {
    let store = try options.openToRead()
    let sizes = try StoreSizes(store)
    try format.write(sizes) { output in
      try output.write(sizes.fileTable)
      try output.write("\n")
      try output.write(sizes.entityTable(listsSystemEntities: all))
    }
  }
}

/// The output of `mooring-dump stats`.
private struct StoreSizes: Encodable {
  struct Entity: Encodable {
    let name: String
    var records = 0
    var bytes = 0
    var indexes = 0
    var indexBytes = 0

    var isOfSystem: Bool { name.hasPrefix("_") }

    static func + (sum: Entity, other: Entity) -> Entity {
      Entity(
        name: sum.name, records: sum.records + other.records, bytes: sum.bytes + other.bytes,
        indexes: sum.indexes + other.indexes, indexBytes: sum.indexBytes + other.indexBytes)
    }
  }

  let id: String
  let folder: String
  let fileBytes: Int
  let mapBytes: Int
  let pageSize: Int
  let pagesUsed: Int
  let pagesFree: Int
  let lastTransaction: Int
  let readers: Int
  let readersMax: Int
  let entities: [Entity]

  init(_ store: Store) throws {
    let statistics = try store.statistics()
    id = try store.id.uuidString.lowercased()
    folder = store.folder
    fileBytes = statistics.fileBytes
    mapBytes = statistics.mapBytes
    pageSize = statistics.pageSize
    pagesUsed = statistics.pagesUsed - statistics.pagesFree
    pagesFree = statistics.pagesFree
    lastTransaction = statistics.lastTransaction
    readers = statistics.readersInUse
    readersMax = statistics.readersMax
    entities = StoreSizes.entities(of: statistics.trees)
  }

  /// Bytes are those of whole pages.
  private static func entities(of trees: [StoredTree]) -> [Entity] {
    var byName: [String: Entity] = [:]
    for tree in trees {
      switch tree.content {
      case .records(let name):
        byName[name, default: Entity(name: name)].records = tree.entries
        byName[name, default: Entity(name: name)].bytes = tree.bytes
      case .index(let name, _):
        byName[name, default: Entity(name: name)].indexes += 1
        byName[name, default: Entity(name: name)].indexBytes &+= tree.bytes
      case .freeList, .names, .catalog, .history, .build, .orphan: break
      }
    }
    return byName.values.sorted { $0.name < $1.name }
  }

  var fileTable: TextTable {
    var table = TextTable([.init("store"), .init(id)])
    table.append(["folder", folder])
    table.append(["file", Formatting.bytes(Int64(fileBytes))])
    table.append([
      "pages in use", "\(Formatting.count(Int64(pagesUsed))) of \(pageSize) bytes",
    ])
    table.append(["pages free", Formatting.count(Int64(pagesFree))])
    table.append(["map", Formatting.bytes(Int64(mapBytes))])
    table.append(["last transaction", String(lastTransaction)])
    table.append(["readers", "\(readers) of \(readersMax)"])
    return table
  }

  /// Returns the store's own entities, then the system entities or one row with their sums.
  func entityTable(listsSystemEntities: Bool) -> TextTable {
    var table = TextTable([
      .init("entity"), .init("records", .number), .init("size", .number),
      .init("indexes", .number), .init("size", .number),
    ])
    let system = entities.filter(\.isOfSystem)
    let sum = Entity(name: "\(system.count) system entities")
    let isSummed = !listsSystemEntities && !system.isEmpty
    let rows =
      entities.filter { !$0.isOfSystem } + (isSummed ? [system.reduce(sum, +)] : system)
    for entity in rows {
      table.append([
        entity.name, Formatting.count(Int64(entity.records)),
        Formatting.bytes(Int64(entity.bytes)), String(entity.indexes),
        Formatting.bytes(Int64(entity.indexBytes)),
      ])
    }
    return table
  }
}
