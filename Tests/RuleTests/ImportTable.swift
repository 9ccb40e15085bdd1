/// Which modules of the project, and which C modules, each module may import.
enum ImportTable {
  struct Row: Sendable {
    let module: String
    let imports: Set<String>

    init(_ module: String, _ imports: String...) {
      self.module = module
      self.imports = Set(imports)
    }
  }

  /// Lowest first: a row names only C modules and modules of rows above it.
  static let rows = [
    Row("SystemSupport"),
    Row("TextFormats"),
    Row("StrictYAML", "CMooringYAML", "TextFormats"),
    Row("UnicodeText", "CMooringICU", "SystemSupport"),
    Row("LMDB", "CMooringLMDB", "CMooringXXHash", "SystemSupport"),
    Row("PostgreSQL", "CMooringPostgreSQL", "SystemSupport", "TextFormats"),
    Row("WebServer", "CMooringMicroHTTPD", "SystemSupport"),
    Row("EntityModel", "TextFormats"),
    Row(
      "EntityStore", "CMooringJSON", "CMooringXXHash", "SystemSupport", "TextFormats",
      "UnicodeText", "LMDB", "EntityModel"),
    Row("SchemaFiles", "TextFormats", "StrictYAML", "EntityModel"),
    Row(
      "EntityObjects", "SystemSupport", "TextFormats", "StrictYAML", "UnicodeText", "EntityModel",
      "EntityStore", "SchemaFiles"),
    Row("Maintenance", "SystemSupport", "TextFormats", "EntityModel", "EntityStore"),
    Row("StoreHub", "SystemSupport", "LMDB", "EntityStore", "Maintenance", "PostgreSQL"),
    Row(
      "StoreTables", "SystemSupport", "TextFormats", "EntityModel", "EntityStore", "PostgreSQL",
      "StoreHub"),
    Row(
      "Migrations", "CMooringXXHash", "SystemSupport", "TextFormats", "StrictYAML", "UnicodeText",
      "EntityModel", "EntityStore", "EntityObjects", "SchemaFiles", "Maintenance"),
    Row(
      "FeedDocuments", "CMooringJSON", "CMooringXML", "CMooringXXHash", "SystemSupport",
      "TextFormats", "StrictYAML", "UnicodeText", "EntityModel", "SchemaFiles"),
    Row("HTTPClient", "CMooringCurl", "SystemSupport", "TextFormats"),
    Row(
      "FeedSync", "SystemSupport", "TextFormats", "StrictYAML", "EntityModel", "EntityStore",
      "EntityObjects", "SchemaFiles", "Migrations", "FeedDocuments", "HTTPClient"),
    Row(
      "LegacyImport", "CMooringSQLite", "CMooringXML", "CMooringXXHash", "CMooringZlib",
      "SystemSupport",
      "TextFormats", "StrictYAML", "EntityModel", "EntityStore", "EntityObjects",
      "SchemaFiles", "Maintenance", "Migrations"),
    Row("SQLiteExport", "CMooringSQLite", "TextFormats", "EntityModel", "EntityStore"),
    Row(
      "DurableJobs", "SystemSupport", "TextFormats", "EntityModel", "EntityStore", "EntityObjects",
      "SchemaFiles", "Migrations"),
    Row(
      "StoreJobs", "SystemSupport", "TextFormats", "EntityModel", "EntityStore",
      "EntityObjects", "SchemaFiles", "Maintenance", "Migrations", "FeedDocuments",
      "HTTPClient", "FeedSync", "DurableJobs"),
    Row(
      "StoreFigures", "SystemSupport", "TextFormats", "EntityModel", "EntityStore", "Migrations",
      "FeedSync", "DurableJobs"),
    Row(
      "WorkerService", "StoreFigures", "SystemSupport", "TextFormats", "StrictYAML", "EntityModel",
      "EntityStore",
      "Maintenance", "Migrations", "FeedDocuments", "HTTPClient", "FeedSync", "DurableJobs",
      "StoreJobs"),
    Row(
      "StatusModel", "SystemSupport", "HTTPClient", "EntityModel", "EntityStore", "Maintenance",
      "Migrations", "FeedSync", "DurableJobs", "StoreFigures", "StoreHub"),
    Row("HomeFeed", "EntityModel", "EntityStore", "EntityObjects", "SchemaFiles", "Migrations"),
    Row(
      "Mooring", "EntityModel", "EntityStore", "EntityObjects", "SchemaFiles", "Maintenance",
      "Migrations", "FeedDocuments", "HTTPClient", "FeedSync", "LegacyImport", "DurableJobs",
      "StoreFigures", "StoreJobs", "HomeFeed"),
    Row("LoopbackHTTP", "SystemSupport"),
    Row(
      "Console", "CMooringBuild", "CMooringMalloc", "SystemSupport", "TextFormats", "StrictYAML",
      "EntityModel",
      "EntityStore", "EntityObjects", "SchemaFiles", "Migrations", "PostgreSQL", "StoreHub"),
    Row(
      "StatusPages", "SystemSupport", "TextFormats", "HTTPClient", "EntityModel", "EntityStore",
      "FeedSync", "DurableJobs", "StoreFigures", "StoreJobs", "StatusModel", "WebServer",
      "Console"),
    Row(
      "mooring", "SystemSupport", "TextFormats", "EntityModel", "EntityStore",
      "EntityObjects", "SchemaFiles", "Maintenance", "Migrations", "FeedDocuments", "HTTPClient",
      "FeedSync", "LegacyImport", "SQLiteExport", "DurableJobs", "StoreJobs", "WorkerService",
      "StatusModel", "StatusPages", "WebServer", "HomeFeed", "Mooring", "Console", "PostgreSQL",
      "StoreHub", "StoreTables", "StoreFigures"),
    Row(
      "mooring-dump", "TextFormats", "EntityModel", "EntityStore", "Maintenance", "DurableJobs",
      "Console"),
    Row("manual-pages"),
    Row("feed-server", "SystemSupport", "TextFormats", "LoopbackHTTP"),
    Row("free-episodes", "Mooring"),
  ]

  /// Packages of their own, which import the library as any other program does.
  static let packages: Set = ["bench", "campaign", "fuzz"]

  static func violations(in tree: SourceTree) -> [String: [String]] {
    let files = tree.files.filter {
      $0.isSwift && $0.area != "Tests" && !packages.contains($0.module)
    }
    let known = Set(files.filter { $0.area == "Sources" }.map(\.module)).union(rows.map(\.module))
    let allowed = Dictionary(uniqueKeysWithValues: rows.map { ($0.module, $0.imports) })
    var found: [String: [String]] = [:]
    for file in files {
      guard let imports = allowed[file.module] else {
        found[file.module] = ["\(file.module) has no row in ImportTable"]
        continue
      }
      for (name, line) in file.imports where known.contains(name) || name.hasPrefix("CMooring") {
        if !imports.contains(name) {
          found[file.module, default: []].append("\(file.path):\(line): imports \(name)")
        }
      }
    }
    return found
  }
}

extension SourceFile {
  /// The modules that the file imports, with the lines.
  var imports: [(String, Int)] {
    var found: [(String, Int)] = []
    for (index, token) in tokens.enumerated() where token.word == "import" {
      let kinds: Set = ["class", "struct", "enum", "protocol", "func", "var", "let", "typealias"]
      let next = tokens[(index + 1)...].prefix(2).compactMap(\.word)
      if let name = next.first(where: { !kinds.contains($0) }) { found.append((name, token.line)) }
    }
    return found
  }
}
