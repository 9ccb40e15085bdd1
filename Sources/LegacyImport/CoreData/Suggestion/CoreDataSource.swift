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
  /// The names of the files with long values.
  let externalFiles: Result<Set<String>, ExternalBlobFailure>

  /// The origin of names and types, for evidence.
  var origin: String { file.model == nil ? "guess" : "model" }

  /// - Throws: What reading throws; `mapping` if not even the entities make sense.
  init(_ database: SourceDatabase, model given: ManagedObjectModel?) throws {
    let file = try CoreDataFile(database, model: given)
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
    if given != nil, !file.entities.isEmpty, numbers.byName.isEmpty {
      let names = file.entities.filter { !$0.isOfTheSystem }.map(\.name)
      throw ImportError(
        .mapping, "the model is not that of the file", [("entities of the file", names.shortList)],
        advice: "give the model of the program that wrote the file, or leave out --model")
    }
    let layout = StoreLayout(of: model, numbers: numbers, in: database.tables)
    var facts: [String: TableFacts] = [:]
    for name in Set(layout.tables.values) {
      guard let table = database.table(name) else { continue }
      facts[name] = try TableFacts(
        of: table, numbers: Set(layout.numbers.values), in: database)
    }
    self.file = file
    self.facts = facts
    let report = database.report
    externalFiles = Result { () throws(ExternalBlobFailure) in
      try ExternalBlobs(source: report.source).fileNames()
    }
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

  /// Returns the number of files that cells name and that do not exist; all of them if the folder
  /// cannot be read.
  func missingFiles(_ facts: ColumnFacts) -> Int {
    switch externalFiles {
    case .success(let files): facts.fileNames.subtracting(files).count
    case .failure: facts.fileNames.count
    }
  }
}
