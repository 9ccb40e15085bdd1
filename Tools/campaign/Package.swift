// swift-tools-version: 6.2
import PackageDescription

// A package of its own: `run` builds it with -enable-testing, because a simulation calls what a
// worker calls inside of its modules.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("ExistentialAny"),
]

let package = Package(
  name: "campaign",
  dependencies: [.package(name: "mooring", path: "../..")],
  targets: [
    .executableTarget(
      name: "simulation",
      dependencies: [
        .product(name: "Mooring", package: "mooring"),
        .product(name: "StatusModel", package: "mooring"),
        .product(name: "TestSupport", package: "mooring"),
        .product(name: "WorkerService", package: "mooring"),
      ],
      swiftSettings: settings),
    .executableTarget(name: "mutation", swiftSettings: settings),
    // Contains a link to Tests/PowerLossTests/Replay.
    .executableTarget(
      name: "power-loss",
      dependencies: [
        .product(name: "Mooring", package: "mooring"),
        .product(name: "TestSupport", package: "mooring"),
      ],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
