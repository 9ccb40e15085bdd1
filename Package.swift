// swift-tools-version: 6.2
import PackageDescription

// Imports are `internal` unless a public signature needs more, and each file names what it uses:
// the layers of the folder tree are the layers of the imports.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("ExistentialAny"),
]

// What Tools/package says of a package, as a text in C.
func buildText(_ variable: String) -> CSetting {
  .define(variable, to: "\"\(Context.environment["PACKAGE_" + variable] ?? "")\"")
}

let argumentParser: Target.Dependency = .product(
  name: "ArgumentParser", package: "swift-argument-parser")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let metrics: Target.Dependency = .product(name: "Metrics", package: "swift-metrics")

let package = Package(
  name: "mooring",
  products: [
    .library(name: "Mooring", targets: ["Mooring"]),
    // For the benchmark, the campaigns and fuzzing, which are packages of their own.
    .library(name: "StatusModel", targets: ["StatusModel"]),
    .library(name: "WorkerService", targets: ["WorkerService"]),
    .library(name: "StoreHub", targets: ["StoreHub"]),
    .library(name: "TestSupport", targets: ["TestSupport", "LoopbackHTTP"]),
    .library(name: "WebServer", targets: ["WebServer"]),
    .executable(name: "store-child", targets: ["store-child"]),
    .executable(name: "mooring", targets: ["mooring"]),
    .executable(name: "mooring-dump", targets: ["mooring-dump"]),
    .executable(name: "feed-server", targets: ["feed-server"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ],
  targets: [
    // C libraries of the system.
    .systemLibrary(name: "CMooringLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"])]),
    .systemLibrary(
      name: "CMooringYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
    .systemLibrary(
      name: "CMooringXXHash", pkgConfig: "libxxhash", providers: [.apt(["libxxhash-dev"])]),
    .systemLibrary(
      name: "CMooringSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(
      name: "CMooringLibXML", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
    .target(name: "CMooringXML", dependencies: ["CMooringLibXML"]),
    .systemLibrary(name: "CMooringMalloc"),
    // The commit and the default store of a package; the one target that changes with each commit.
    .target(
      name: "CMooringBuild",
      cSettings: ["MOORING_COMMIT", "MOORING_SWIFT", "MOORING_STORE"].map(buildText)),
    // Without `pkgConfig`, which would link the libraries: they are loaded when they are needed.
    .systemLibrary(name: "CMooringCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CMooringPostgreSQL", providers: [.apt(["libpq-dev"])]),
    .systemLibrary(name: "CMooringMicroHTTPD", providers: [.apt(["libmicrohttpd-dev"])]),
    .systemLibrary(name: "CMooringZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .target(name: "CMooringJSON", linkerSettings: [.linkedLibrary("simdjson")]),
    .target(
      name: "CMooringICU", linkerSettings: [.linkedLibrary("icui18n"), .linkedLibrary("icuuc")]),

    // Libraries, lowest first.
    // Locks, leases, threads and scratch folders of the operating system.
    .target(name: "SystemSupport", swiftSettings: settings),
    // JSON and CSV text, the civil calendar, suggestions for misspelled names.
    .target(name: "TextFormats", swiftSettings: settings),
    .target(
      name: "LMDB", dependencies: ["SystemSupport", "CMooringLMDB", "CMooringXXHash"],
      swiftSettings: settings),
    .target(name: "EntityModel", dependencies: ["TextFormats"], swiftSettings: settings),
    .target(
      name: "StrictYAML", dependencies: ["TextFormats", "CMooringYAML"],
      swiftSettings: settings),
    .target(
      name: "UnicodeText", dependencies: ["SystemSupport", "CMooringICU"], swiftSettings: settings),
    .target(
      name: "EntityStore",
      dependencies: [
        "SystemSupport", "TextFormats", "UnicodeText", "LMDB", "EntityModel", "CMooringJSON",
        "CMooringXXHash",
      ],
      swiftSettings: settings),
    // What works on objects and is built of fetches and writes: drafts, the repository, batch
    // requests, live results, seeds.
    .target(
      name: "EntityObjects",
      dependencies: [
        "SystemSupport", "TextFormats", "StrictYAML", "EntityModel", "EntityStore", "SchemaFiles",
      ],
      swiftSettings: settings),
    // Conversions and values in YAML.
    .target(
      name: "SchemaFiles", dependencies: ["TextFormats", "StrictYAML", "EntityModel"],
      swiftSettings: settings),
    // The integrity check, backup, restore, compaction.
    .target(
      name: "Maintenance", dependencies: ["SystemSupport", "EntityModel", "EntityStore"],
      swiftSettings: settings),
    .target(
      name: "Migrations",
      dependencies: [
        "SystemSupport", "TextFormats",
        "StrictYAML", "EntityModel", "EntityStore", "SchemaFiles", "EntityObjects", "Maintenance",
        "CMooringXXHash",
      ],
      exclude: ["System"],
      resources: [
        .embedInCode("System/0001_chunked_writes.yaml"),
        .embedInCode("System/0002_history.yaml"),
        .embedInCode("System/0003_migrations.yaml"),
      ],
      swiftSettings: settings),
    .target(
      name: "DurableJobs",
      dependencies: [
        "SystemSupport", "TextFormats", "EntityModel", "EntityStore", "Migrations", logging,
      ],
      exclude: ["System"], resources: [.embedInCode("System/0001_jobs.yaml")],
      swiftSettings: settings),
    .target(name: "LoopbackHTTP", dependencies: ["SystemSupport"], swiftSettings: settings),
    .target(
      name: "HTTPClient", dependencies: ["SystemSupport", "CMooringCurl"],
      swiftSettings: settings),
    // An HTTP server on libmicrohttpd; knows no store.
    .target(
      name: "WebServer", dependencies: ["SystemSupport", "CMooringMicroHTTPD"],
      swiftSettings: settings),
    // A client of PostgreSQL on libpq; knows no store.
    .target(
      name: "PostgreSQL", dependencies: ["SystemSupport", "TextFormats", "CMooringPostgreSQL"],
      swiftSettings: settings),
    // The commit log of a store in a PostgreSQL database, and the machines that share it.
    .target(
      name: "StoreHub",
      dependencies: ["SystemSupport", "LMDB", "EntityStore", "Maintenance", "PostgreSQL"],
      swiftSettings: settings),
    // Tables of a store's entities for readers of SQL, in the database of its hub.
    .target(
      name: "StoreTables",
      dependencies: [
        "SystemSupport", "TextFormats", "EntityModel", "EntityStore", "PostgreSQL", "StoreHub",
      ],
      swiftSettings: settings),
    // Documents of feeds and the mappings that make items of them; knows no store.
    .target(
      name: "FeedDocuments",
      dependencies: [
        "SchemaFiles", "TextFormats",
        "EntityModel", "StrictYAML", "CMooringJSON", "CMooringXML", "CMooringXXHash",
      ],
      exclude: ["Mapping/BuiltIn"],
      resources: [
        .embedInCode("Mapping/BuiltIn/json-feed.yaml"),
        .embedInCode("Mapping/BuiltIn/rss.yaml"), .embedInCode("Mapping/BuiltIn/atom.yaml"),
      ],
      swiftSettings: settings),
    .target(
      name: "FeedSync",
      dependencies: [
        "HTTPClient",
        "FeedDocuments",
        "SystemSupport", "TextFormats",
        "StrictYAML", "EntityModel", "EntityStore", "SchemaFiles", "Migrations", "CMooringCurl",
        "CMooringJSON", "CMooringXML",
      ],
      exclude: ["System"],
      resources: [
        .embedInCode("System/0001_feeds.yaml"), .embedInCode("System/0002_feed_manners.yaml"),
        .embedInCode("System/0003_feed_mappings.yaml"),
        .embedInCode("System/0004_feed_addresses.yaml"),
        .embedInCode("System/0005_feed_settings.yaml"),
        .embedInCode("System/0006_feed_folders.yaml"),
      ],
      swiftSettings: settings),
    // SQLite caches of other programs, Core Data's stores among them, become entities.
    .target(
      name: "LegacyImport",
      dependencies: [
        "SystemSupport", "TextFormats", "StrictYAML", "EntityModel", "EntityStore", "SchemaFiles",
        "EntityObjects", "Migrations", "CMooringSQLite", "CMooringXML", "CMooringZlib",
        "CMooringXXHash",
      ],
      exclude: ["System"], resources: [.embedInCode("System/0001_import.yaml")],
      swiftSettings: settings),
    // All records of a store as an SQLite file for other programs.
    .target(
      name: "SQLiteExport",
      dependencies: ["TextFormats", "EntityModel", "EntityStore", "CMooringSQLite"],
      swiftSettings: settings),
    .target(
      name: "HomeFeed", dependencies: ["EntityModel", "EntityStore", "Migrations"],
      resources: [
        .embedInCode("../../Migrations/0001_home_feed.yaml"),
        .embedInCode("../../Migrations/0002_learning_path_of_episode.yaml"),
        .embedInCode("../../Migrations/0003_episode_content.yaml"),
        .embedInCode("../../Migrations/0004_episodes_of_a_path.yaml"),
      ], swiftSettings: settings),
    // The jobs of this project, and the service that runs them.
    .target(
      name: "StoreJobs",
      dependencies: [
        "HTTPClient",
        "SystemSupport", "TextFormats", "EntityModel", "EntityStore", "EntityObjects",
        "Maintenance", "Migrations", "FeedSync", "DurableJobs", logging,
      ],
      swiftSettings: settings),
    // Figures over time, of feeds, of slow fetches and of indexes, in the store itself.
    .target(
      name: "StoreFigures",
      dependencies: [
        "SystemSupport", "TextFormats", "EntityModel", "EntityStore", "Migrations", "FeedSync",
        "DurableJobs",
      ],
      exclude: ["System"], resources: [.embedInCode("System/0001_figures.yaml")],
      swiftSettings: settings),
    .target(
      name: "WorkerService",
      dependencies: [
        "StoreFigures",
        "HTTPClient",
        "SystemSupport", "TextFormats",
        "LMDB", "Maintenance",
        "EntityModel", "EntityStore", "DurableJobs", "FeedSync", "StoreJobs", "StrictYAML", logging,
        metrics, .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ],
      swiftSettings: settings),
    // The state of a store in one value, for people and programs.
    .target(
      name: "StatusModel",
      dependencies: [
        "SystemSupport", "HTTPClient", "EntityModel", "EntityStore", "Maintenance", "Migrations",
        "FeedSync", "DurableJobs", "StoreFigures", "StoreHub",
      ],
      exclude: ["System"], resources: [.embedInCode("System/0001_actions.yaml")],
      swiftSettings: settings),
    // The pages of a store, from its status.
    .target(
      name: "StatusPages",
      dependencies: [
        "SystemSupport", "TextFormats", "HTTPClient", "EntityModel", "EntityStore", "FeedSync",
        "DurableJobs", "StoreFigures", "StoreJobs", "StatusModel", "WebServer", "Console",
      ],
      swiftSettings: settings),
    .target(
      name: "Console",
      dependencies: [
        "TextFormats", "StrictYAML", "EntityModel", "EntityStore", "Migrations", "StoreHub",
        "SystemSupport", "PostgreSQL", "CMooringMalloc", "CMooringBuild", argumentParser,
      ],
      swiftSettings: settings),
    // What an embedder imports: re-exports the modules above that have a public interface.
    .target(
      name: "Mooring",
      dependencies: [
        "FeedDocuments", "HTTPClient",
        "EntityModel", "EntityStore", "EntityObjects", "Maintenance", "Migrations", "FeedSync",
        "LegacyImport", "DurableJobs", "StoreFigures", "StoreJobs", "HomeFeed",
      ],
      swiftSettings: settings),

    // Commands.
    .executableTarget(
      name: "mooring",
      dependencies: [
        "SystemSupport", "HTTPClient",
        "FeedDocuments",
        "EntityObjects", "Maintenance", "Migrations",
        "EntityModel", "EntityStore", "DurableJobs", "FeedSync", "HomeFeed", "StoreJobs",
        "StoreFigures", "StoreHub", "StoreTables", "PostgreSQL", "LegacyImport", "SQLiteExport",
        "TextFormats", "StatusModel", "StatusPages", "WebServer", "WorkerService", "Console",
        argumentParser,
        logging, metrics,
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ],
      path: "Tools/mooring", swiftSettings: settings),
    .executableTarget(
      name: "mooring-dump",
      dependencies: [
        "TextFormats", "EntityModel", "EntityStore", "DurableJobs", "Console", argumentParser,
      ],
      path: "Tools/mooring-dump", swiftSettings: settings),
    .executableTarget(
      name: "feed-server",
      dependencies: ["SystemSupport", "TextFormats", "LoopbackHTTP", argumentParser],
      path: "Tools/feed-server", swiftSettings: settings),
    // Manual pages from the help of the commands; for Tools/package.
    .executableTarget(
      name: "manual-pages", path: "Tools/manual-pages", swiftSettings: settings),
    // A sample of what a program sees while another one writes.
    .executableTarget(
      name: "free-episodes",
      dependencies: ["Mooring"],
      path: "Tools/free-episodes", swiftSettings: settings),

    // Tests.
    .target(
      name: "TestSupport",
      dependencies: [
        "SystemSupport", "EntityObjects", "Maintenance", "Migrations", "LMDB", "EntityModel",
        "EntityStore",
      ],
      path: "Tests/TestSupport", swiftSettings: settings),
    .executableTarget(
      name: "store-child",
      dependencies: [
        "HTTPClient",
        "EntityObjects", "Maintenance", "Migrations", "SystemSupport", "LMDB", "EntityModel",
        "EntityStore", "FeedSync", "LegacyImport", "DurableJobs", "HomeFeed", "PostgreSQL",
        "StoreHub", "StoreTables", "TestSupport",
      ],
      path: "Tests/StoreChild", swiftSettings: settings),
    .testTarget(
      name: "SystemSupportTests", dependencies: ["SystemSupport", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "TextFormatsTests", dependencies: ["TextFormats"], swiftSettings: settings),
    .testTarget(
      name: "LMDBTests", dependencies: ["SystemSupport", "LMDB", "TestSupport", "store-child"],
      swiftSettings: settings),
    .testTarget(
      name: "EntityModelTests", dependencies: ["EntityModel", "TestSupport"],
      swiftSettings: settings),
    // The rules of the repository, read from its sources.
    .testTarget(name: "RuleTests", dependencies: ["SystemSupport"], swiftSettings: settings),
    .testTarget(
      name: "StrictYAMLTests", dependencies: ["StrictYAML", "TestSupport"], swiftSettings: settings),
    .testTarget(
      name: "UnicodeTextTests", dependencies: ["UnicodeText", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "ConsoleTests", dependencies: ["SystemSupport", "Console", argumentParser],
      swiftSettings: settings),
    .testTarget(
      name: "EntityStoreTests",
      dependencies: [
        "Maintenance", "Migrations", "SystemSupport", "UnicodeText", "LMDB", "EntityModel",
        "EntityStore", "CMooringSQLite", "TestSupport", "store-child",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "EntityObjectsTests",
      dependencies: [
        "EntityObjects", "Migrations", "SystemSupport", "LMDB", "EntityModel", "EntityStore",
        "TestSupport", "store-child",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "MigrationsTests",
      dependencies: [
        "EntityObjects", "Maintenance", "Migrations", "SchemaFiles", "SystemSupport", "StrictYAML",
        "LMDB", "EntityModel", "EntityStore", "TestSupport", "store-child",
      ],
      exclude: ["Formats/Stores"],
      swiftSettings: settings),
    .testTarget(
      name: "MaintenanceTests",
      dependencies: [
        "Maintenance", "Migrations", "SystemSupport", "LMDB", "EntityModel", "EntityStore",
        "TestSupport", "store-child",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "StatusModelTests",
      dependencies: [
        "StatusModel", "StoreFigures", "EntityModel", "EntityStore", "Maintenance", "Migrations",
        "FeedSync", "DurableJobs", "HomeFeed", "TestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "StatusPagesTests",
      dependencies: [
        "StatusPages", "StatusModel", "WebServer", "EntityStore", "Migrations", "FeedSync",
        "DurableJobs", "HomeFeed", "TestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "LoopbackHTTPTests", dependencies: ["SystemSupport", "LoopbackHTTP"],
      swiftSettings: settings),
    .target(
      name: "FeedTestSupport",
      dependencies: ["Migrations", "FeedDocuments", "HomeFeed", "EntityModel", "EntityStore"],
      path: "Tests/FeedTestSupport", swiftSettings: settings),
    .testTarget(
      name: "FeedDocumentsTests",
      dependencies: [
        "FeedDocuments", "FeedTestSupport", "EntityModel", "StrictYAML", "TestSupport",
      ],
      exclude: ["Mapping/Fixtures"],
      swiftSettings: settings),
    .testTarget(
      name: "HTTPClientTests",
      dependencies: ["SystemSupport", "HTTPClient", "LoopbackHTTP", "TestSupport", "store-child"],
      swiftSettings: settings),
    .testTarget(
      name: "WebServerTests", dependencies: ["SystemSupport", "WebServer", "TestSupport"],
      swiftSettings: settings),
    // A server of PostgreSQL for the tests of one process.
    .target(
      name: "PostgreSQLTestSupport", dependencies: ["SystemSupport", "TestSupport"],
      path: "Tests/PostgreSQLTestSupport", swiftSettings: settings),
    .testTarget(
      name: "PostgreSQLTests",
      dependencies: ["SystemSupport", "PostgreSQL", "PostgreSQLTestSupport", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "StoreHubTests",
      dependencies: [
        "SystemSupport", "LMDB", "EntityModel", "EntityStore", "Migrations", "Maintenance",
        "DurableJobs", "EntityObjects", "FeedSync", "HomeFeed", "PostgreSQL", "StoreHub",
        "StoreTables", "PostgreSQLTestSupport", "TestSupport", "mooring", "store-child",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "FeedSyncTests",
      dependencies: [
        "SystemSupport", "EntityObjects", "HTTPClient", "Maintenance", "Migrations",
        "FeedDocuments",
        "StrictYAML", "LMDB", "EntityModel", "EntityStore", "FeedSync", "HomeFeed", "LoopbackHTTP",
        "TestSupport", "store-child",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "LegacyImportTests",
      dependencies: [
        "EntityObjects", "Migrations",
        "SystemSupport", "StrictYAML", "EntityModel", "EntityStore", "LegacyImport",
        "PostgreSQL", "StoreHub", "PostgreSQLTestSupport", "CMooringSQLite", "TestSupport",
        "store-child",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "DurableJobsTests",
      dependencies: [
        "Migrations",
        "SystemSupport", "EntityModel", "EntityStore", "DurableJobs", "TestSupport", "store-child",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "StoreJobsTests",
      dependencies: [
        "EntityObjects", "HTTPClient", "Maintenance", "Migrations",
        "EntityModel", "EntityStore", "FeedSync", "DurableJobs", "StoreJobs", "HomeFeed",
        "LoopbackHTTP", "TestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "StoreFiguresTests",
      dependencies: [
        "SystemSupport", "StoreFigures", "EntityModel", "EntityStore", "Migrations", "FeedSync",
        "DurableJobs",
        "HomeFeed", "TestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "WorkerServiceTests",
      dependencies: [
        "SystemSupport", "StoreFigures",
        "Maintenance", "Migrations",
        "WorkerService", "StoreJobs", "DurableJobs", "HomeFeed", "FeedSync", "HTTPClient",
        "EntityModel", "EntityStore", "LoopbackHTTP", "StrictYAML", "TestSupport", "mooring",
        logging, metrics,
        "store-child", .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: settings),
    // What is on the disk after a loss of power at any moment.
    .testTarget(
      name: "PowerLossTests",
      dependencies: [
        "SystemSupport", "Maintenance", "Migrations", "EntityModel", "EntityStore", "DurableJobs",
        "FeedSync",
        "HTTPClient", "HomeFeed", "LoopbackHTTP", "TestSupport", "store-child",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "HomeFeedTests",
      dependencies: ["LMDB", "EntityModel", "EntityStore", "HomeFeed", "TestSupport"],
      swiftSettings: settings),
    // What README and the pages of the documentation show.
    .testTarget(
      name: "DocumentationTests",
      dependencies: [
        "FeedDocuments", "SystemSupport",
        "Mooring", "WorkerService", "TestSupport", "mooring", "mooring-dump", "feed-server",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "ToolTests",
      dependencies: [
        "SystemSupport", "EntityObjects", "Maintenance", "Migrations",
        "LMDB", "EntityModel", "EntityStore", "FeedSync", "LegacyImport", "DurableJobs",
        "StoreFigures", "StoreJobs", "HomeFeed", "LoopbackHTTP", "CMooringSQLite", "PostgreSQL",
        "PostgreSQLTestSupport", "StatusModel", "Console", "TestSupport", "mooring", "mooring-dump",
        "feed-server", "free-episodes", "store-child",
      ],
      exclude: ["Feeds/Fixtures"],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6],
  cxxLanguageStandard: .cxx17
)
