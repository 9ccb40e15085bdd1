/// Statistics of the rows of an entity's table, collected in one pass that ends early in a large
/// table.
struct TableFacts: Sendable {
  private static let rowsMax = 100_000
  private static let bytesMax = 256 << 20
  /// The greatest product of columns and entities.
  private static let factsMax = 200_000

  private let columns: [String]
  /// The statistics of the columns, by the number of the entity.
  private var byEntity: [Int64: [ColumnFacts]] = [:]
  private(set) var rows = 0
  /// True if all rows were read.
  private(set) var isComplete = true
  /// The number of rows whose `Z_ENT` is null; the next one counts rows whose `Z_ENT` is no number
  /// of an entity.
  private(set) var rowsWithoutEntity = 0
  private(set) var rowsOfUnknownEntity = 0

  /// - Parameter numbers: Those of the entities that rows may be of.
  init(of table: SourceTable, numbers: Set<Int64>, in database: SourceDatabase) throws {
    columns = table.columns.map(\.name)
    guard let entityPlace = columns.firstIndex(of: StoreLayout.entityColumn) else { return }
    let reader = try database.rows(of: table, columns: columns)
    var bytes = 0
    if database.lostRows(of: table.name) != nil { isComplete = false }
    while let row = try reader.next() {
      guard rows < Self.rowsMax, bytes < Self.bytesMax else {
        isComplete = false
        return
      }
      rows += 1
      bytes += row.cells.reduce(0) { $0 + $1.byteCount }
      switch row.cells[entityPlace] {
      case .integer(let number) where numbers.contains(number): add(row.cells, to: number)
      case .null: rowsWithoutEntity += 1
      default: rowsOfUnknownEntity += 1
      }
    }
  }

  private mutating func add(_ cells: [Cell], to number: Int64) {
    if byEntity[number] == nil {
      guard (byEntity.count + 1) * columns.count <= Self.factsMax else {
        isComplete = false
        return
      }
      byEntity[number] = [ColumnFacts](repeating: ColumnFacts(), count: columns.count)
    }
    for (place, cell) in cells.enumerated() { byEntity[number]?[place].add(cell) }
  }

  func rows(of number: Int64) -> Int { byEntity[number]?.first?.total ?? 0 }

  /// Returns the statistics of a column in the rows of one entity.
  func facts(of column: String, entity number: Int64) -> ColumnFacts {
    guard let place = columns.firstIndex(of: column), let facts = byEntity[number] else {
      return ColumnFacts()
    }
    return facts[place]
  }

  /// Returns the statistics of a column in the rows of all known entities.
  func facts(of column: String) -> ColumnFacts {
    guard let place = columns.firstIndex(of: column) else { return ColumnFacts() }
    return byEntity.values.reduce(into: ColumnFacts()) { $0.add($1[place]) }
  }

  /// Returns the numbers of the entities whose rows have a value in the column.
  func entities(filling column: String) -> [Int64] {
    guard let place = columns.firstIndex(of: column) else { return [] }
    return byEntity.filter { $0.value[place].values > 0 }.keys.sorted()
  }
}
