// swift-tools-version: 6.2
import PackageDescription

// Imports are `internal` unless a public signature needs more, and each file names what it uses:
// the layers of the folder tree are the layers of the imports.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("ExistentialAny"),
]

let argumentParser: Target.Dependency = .product(
  name: "ArgumentParser", package: "swift-argument-parser")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let metrics: Target.Dependency = .product(name: "Metrics", package: "swift-metrics")

let package = Package(
  name: "mooring",
  products: [
    .library(
      name: "Mooring",
      targets: [
        "EntityModel", "EntityStore", "DurableJobs", "FeedSync", "HomeFeed", "LegacyImport",
        "StoreJobs",
      ]),
    .executable(name: "mooring", targets: ["mooring"]),
    .executable(name: "mooring-dump", targets: ["mooring-dump"]),
    .executable(name: "feed-server", targets: ["feed-server"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ],
  targets: [
    // C libraries of the system.
    .systemLibrary(name: "CMooringLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"])]),
    .systemLibrary(
      name: "CMooringCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(
      name: "CMooringYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
    .systemLibrary(
      name: "CMooringXXHash", pkgConfig: "libxxhash", providers: [.apt(["libxxhash-dev"])]),
    .systemLibrary(
      name: "CMooringSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(
      name: "CMooringLibXML", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
    .target(name: "CMooringXML", dependencies: ["CMooringLibXML"]),
    .systemLibrary(name: "CMooringZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .target(name: "CMooringJSON", linkerSettings: [.linkedLibrary("simdjson")]),
    .target(
      name: "CMooringICU", linkerSettings: [.linkedLibrary("icui18n"), .linkedLibrary("icuuc")]),

    // Libraries, lowest first.
    .target(name: "LMDB", dependencies: ["CMooringLMDB"], swiftSettings: settings),
    .target(name: "EntityModel", swiftSettings: settings),
    // Values, rows and records as JSON and CSV.
    .target(name: "RowText", dependencies: ["EntityModel"], swiftSettings: settings),
    .target(name: "StrictYAML", dependencies: ["CMooringYAML"], swiftSettings: settings),
    .target(name: "UnicodeText", dependencies: ["CMooringICU"], swiftSettings: settings),
    .target(
      name: "EntityStore",
      dependencies: [
        "EntityModel", "LMDB", "StrictYAML", "UnicodeText", "CMooringXXHash",
      ],
      exclude: ["Migrations/System"],
      resources: [
        .embedInCode("Migrations/System/0001_chunked_writes.yaml"),
        .embedInCode("Migrations/System/0002_history.yaml"),
        .embedInCode("Migrations/System/0003_migrations.yaml"),
      ],
      swiftSettings: settings),
    .target(
      name: "DurableJobs", dependencies: ["EntityModel", "EntityStore", "LMDB", logging],
      exclude: ["System"], resources: [.embedInCode("System/0001_jobs.yaml")],
      swiftSettings: settings),
    .target(name: "LoopbackHTTP", swiftSettings: settings),
    .target(
      name: "FeedSync",
      dependencies: [
        "EntityModel", "EntityStore", "StrictYAML", "CMooringCurl", "CMooringJSON", "CMooringXML",
      ],
      exclude: ["System", "Mapping/BuiltIn"],
      resources: [
        .embedInCode("System/0001_feeds.yaml"), .embedInCode("System/0002_feed_manners.yaml"),
        .embedInCode("System/0003_feed_mappings.yaml"),
        .embedInCode("Mapping/BuiltIn/json-feed.yaml"),
        .embedInCode("Mapping/BuiltIn/rss.yaml"), .embedInCode("Mapping/BuiltIn/atom.yaml"),
      ],
      swiftSettings: settings),
    // SQLite caches of other programs, Core Data's stores among them, become entities.
    .target(
      name: "LegacyImport",
      dependencies: [
        "EntityModel", "EntityStore", "LMDB", "RowText", "StrictYAML", "CMooringSQLite",
        "CMooringZlib", "CMooringXXHash",
      ],
      exclude: ["System"], resources: [.embedInCode("System/0001_import.yaml")],
      swiftSettings: settings),
    .target(
      name: "HomeFeed", dependencies: ["EntityModel", "EntityStore"],
      resources: [
        .embedInCode("../../Migrations/0001_home_feed.yaml"),
        .embedInCode("../../Migrations/0002_learning_path_of_episode.yaml"),
      ], swiftSettings: settings),
    // The jobs of this project, and the service that runs them.
    .target(
      name: "StoreJobs",
      dependencies: [
        "EntityModel", "EntityStore", "DurableJobs", "FeedSync", "RowText", "LMDB", logging,
      ],
      swiftSettings: settings),
    .target(
      name: "WorkerService",
      dependencies: [
        "EntityModel", "EntityStore", "DurableJobs", "FeedSync", "StoreJobs", "StrictYAML", logging,
        metrics, .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "Configuration", package: "swift-configuration"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ],
      swiftSettings: settings),
    .target(
      name: "Console",
      dependencies: [
        "EntityModel", "EntityStore", "LMDB", "RowText", "StrictYAML", argumentParser,
      ],
      swiftSettings: settings),

    // Commands.
    .executableTarget(
      name: "mooring",
      dependencies: [
        "EntityModel", "EntityStore", "DurableJobs", "FeedSync", "HomeFeed", "StoreJobs",
        "LegacyImport", "RowText", "WorkerService", "Console", argumentParser, logging, metrics,
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ],
      path: "Tools/mooring", swiftSettings: settings),
    .executableTarget(
      name: "mooring-dump",
      dependencies: ["EntityModel", "EntityStore", "DurableJobs", "Console", argumentParser],
      path: "Tools/mooring-dump", swiftSettings: settings),
    .executableTarget(
      name: "feed-server", dependencies: ["LoopbackHTTP", argumentParser],
      path: "Tools/feed-server", swiftSettings: settings),
    // A sample of what a program sees while another one writes.
    .executableTarget(
      name: "free-episodes", dependencies: ["EntityModel", "EntityStore", "HomeFeed"],
      path: "Tools/free-episodes", swiftSettings: settings),

    // Tests.
    .target(
      name: "TestSupport", dependencies: ["EntityModel", "EntityStore", "LMDB"],
      path: "Tests/TestSupport", swiftSettings: settings),
    .executableTarget(
      name: "store-child",
      dependencies: [
        "EntityModel", "EntityStore", "DurableJobs", "FeedSync", "HomeFeed", "LegacyImport",
        "StoreJobs", "LMDB", "TestSupport",
      ],
      path: "Tests/StoreChild", swiftSettings: settings),
    .testTarget(
      name: "LMDBTests", dependencies: ["LMDB", "TestSupport", "store-child"],
      swiftSettings: settings),
    .testTarget(
      name: "EntityModelTests", dependencies: ["EntityModel", "TestSupport"],
      swiftSettings: settings),
    // The rules of the repository, read from its sources.
    .testTarget(name: "RuleTests", swiftSettings: settings),
    .testTarget(name: "StrictYAMLTests", dependencies: ["StrictYAML"], swiftSettings: settings),
    .testTarget(
      name: "UnicodeTextTests", dependencies: ["UnicodeText", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "ConsoleTests", dependencies: ["Console", argumentParser], swiftSettings: settings),
    .testTarget(
      name: "EntityStoreTests",
      dependencies: [
        "EntityModel", "EntityStore", "LMDB", "StrictYAML", "UnicodeText", "CMooringSQLite",
        "TestSupport", "store-child",
      ],
      exclude: ["Migrations/Formats/Stores"],
      swiftSettings: settings),
    .testTarget(
      name: "LoopbackHTTPTests", dependencies: ["LoopbackHTTP"], swiftSettings: settings),
    .testTarget(
      name: "FeedSyncTests",
      dependencies: [
        "FeedSync", "HomeFeed", "EntityModel", "EntityStore", "LMDB", "LoopbackHTTP", "TestSupport",
        "store-child",
      ],
      exclude: ["Mapping/Fixtures"],
      swiftSettings: settings),
    .testTarget(
      name: "LegacyImportTests",
      dependencies: [
        "LegacyImport", "EntityModel", "EntityStore", "LMDB", "StrictYAML", "CMooringSQLite",
        "TestSupport", "store-child",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "DurableJobsTests",
      dependencies: [
        "DurableJobs", "EntityModel", "EntityStore", "LMDB", "TestSupport", "store-child",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "StoreJobsTests",
      dependencies: [
        "StoreJobs", "DurableJobs", "HomeFeed", "FeedSync", "EntityModel", "EntityStore",
        "LoopbackHTTP", "TestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "WorkerServiceTests",
      dependencies: [
        "WorkerService", "StoreJobs", "DurableJobs", "HomeFeed", "FeedSync", "EntityModel",
        "EntityStore", "LoopbackHTTP", "StrictYAML", "TestSupport", "mooring", logging, metrics,
        "store-child", .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "HomeFeedTests",
      dependencies: ["HomeFeed", "EntityModel", "EntityStore", "LMDB", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "ToolTests",
      dependencies: [
        "TestSupport", "LoopbackHTTP", "LMDB", "EntityModel", "EntityStore", "DurableJobs",
        "FeedSync", "HomeFeed", "LegacyImport", "StoreJobs", "CMooringSQLite",
        "mooring", "mooring-dump", "feed-server", "free-episodes", "store-child",
      ],
      exclude: ["Feeds/Fixtures"],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6],
  cxxLanguageStandard: .cxx17
)
