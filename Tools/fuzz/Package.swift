// swift-tools-version: 6.2
import PackageDescription

// A package of its own: its programs are linked with libFuzzer, which contains `main`, so nothing
// else can be built with these flags. `run` passes them.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("ExistentialAny"),
]

let package = Package(
  name: "fuzz",
  dependencies: [.package(name: "mooring", path: "../..")],
  targets: [
    .target(
      name: "FuzzTargets",
      dependencies: [
        .product(name: "Mooring", package: "mooring"),
        .product(name: "WebServer", package: "mooring"),
      ],
      swiftSettings: settings),
    // In C, because the main file of a Swift program would contain another `main`.
    .executableTarget(name: "predicate-format", dependencies: ["FuzzTargets"]),
    .executableTarget(name: "record-reader", dependencies: ["FuzzTargets"]),
    .executableTarget(name: "migration-file", dependencies: ["FuzzTargets"]),
    .executableTarget(name: "json-path", dependencies: ["FuzzTargets"]),
    .executableTarget(name: "feed-xml", dependencies: ["FuzzTargets"]),
    .executableTarget(name: "feed-mapping", dependencies: ["FuzzTargets"]),
    .executableTarget(name: "store-file", dependencies: ["FuzzTargets"]),
    .executableTarget(name: "hub-entry", dependencies: ["FuzzTargets"]),
    .executableTarget(name: "write-ahead-log", dependencies: ["FuzzTargets"]),
    .executableTarget(name: "core-data-archive", dependencies: ["FuzzTargets"]),
    .executableTarget(name: "http-response", dependencies: ["FuzzTargets"]),
    .executableTarget(name: "http-request", dependencies: ["FuzzTargets"]),
    .executableTarget(name: "job-payload", dependencies: ["FuzzTargets"]),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .c11
)
