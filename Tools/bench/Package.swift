// swift-tools-version: 6.2
import PackageDescription

// A package of its own: the stores that Mooring is compared with are dependencies of the
// measurement, not of the product.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("ExistentialAny"),
]

let package = Package(
  name: "bench",
  dependencies: [
    .package(name: "mooring", path: "../.."),
    .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
  ],
  targets: [
    .target(name: "CEpisodes"),
    .target(
      name: "CRawLMDB", dependencies: ["CEpisodes"], linkerSettings: [.linkedLibrary("lmdb")]),
    .target(
      name: "CSQLiteStore", dependencies: ["CEpisodes"],
      linkerSettings: [.linkedLibrary("sqlite3")]),
    // Reads the pages of a feed for the candidates that are written in C.
    .target(
      name: "CFeedPages", dependencies: ["CEpisodes"],
      linkerSettings: [.linkedLibrary("curl"), .linkedLibrary("simdjson")]),
    .target(name: "CSQLiteQueue", linkerSettings: [.linkedLibrary("sqlite3")]),
    // The program that `mooring home` is compared with.
    .executableTarget(
      name: "grdb-home", dependencies: [.product(name: "GRDB", package: "GRDB.swift")],
      swiftSettings: settings),
    .executableTarget(
      name: "bench",
      dependencies: [
        "CEpisodes", "CFeedPages", "CRawLMDB", "CSQLiteQueue", "CSQLiteStore",
        .product(name: "Mooring", package: "mooring"),
        .product(name: "StatusModel", package: "mooring"),
        .product(name: "StoreHub", package: "mooring"),
        // Contains the server of the feeds, LoopbackHTTP.
        .product(name: "TestSupport", package: "mooring"),
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "BenchTests",
      dependencies: ["bench", .product(name: "TestSupport", package: "mooring")],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .c11,
  cxxLanguageStandard: .cxx17
)
