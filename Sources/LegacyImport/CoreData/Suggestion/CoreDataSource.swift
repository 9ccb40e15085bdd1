/// A Core Data file with its model or a guess of it, the layout of its tables, and the statistics
/// of its rows.
struct CoreDataSource {
  let file: CoreDataFile
  let model: ManagedObjectModel
  let layout: StoreLayout
  /// The statistics of each table of entities.
  let facts: [String: TableFacts]
  let doubts: [StoreLayout.Property: String]
  let warnings: [String]

  /// The origin of names and types, for evidence.
  var origin: String { file.model == nil ? "guess" : "model" }

  /// - Throws: What reading throws; `mapping` if not even the entities make sense.
  init(_ database: SourceDatabase) throws {
    let file = try CoreDataFile(database)
    let model: ManagedObjectModel
    do throws(ArchiveDamage) {
      if let known = file.model {
        model = known
      } else {
        model = try GuessedModel.skeleton(file.entities)
      }
    } catch {
      throw ImportError(
        .mapping, "the entities of the Core Data file are inconsistent", [("problem", error.text)],
        advice: "import it as plain SQLite")
    }
    let numbers = EntityNumbers(of: model, in: file.entities)
    let layout = StoreLayout(of: model, numbers: numbers, in: database.tables)
    var facts: [String: TableFacts] = [:]
    for name in Set(layout.tables.values) {
      guard let table = database.table(name) else { continue }
      facts[name] = try TableFacts(
        of: table, numbers: Set(layout.numbers.values), in: database)
    }
    self.file = file
    self.facts = facts
    if file.model != nil {
      self.model = model
      self.layout = layout
      doubts = [:]
      warnings = file.warnings + numbers.warnings
      return
    }
    let guess = GuessedModel(model, layout, facts, database.tables)
    do throws(ArchiveDamage) {
      self.model = try guess.model()
    } catch {
      throw ImportError(
        .mapping, "the columns of the Core Data file are inconsistent", [("problem", error.text)],
        advice: "import it as plain SQLite")
    }
    self.layout = StoreLayout(of: self.model, numbers: numbers, in: database.tables)
    doubts = guess.doubts
    warnings = file.warnings + numbers.warnings + guess.warnings
  }
}
