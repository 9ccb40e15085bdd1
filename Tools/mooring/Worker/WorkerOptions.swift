import ArgumentParser
public import Console
import Foundation
public import WorkerService

/// The flags of `mooring worker`, which `mooring config` has too: one for each setting.
struct WorkerOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The file of settings.",
      discussion: """
        Default: $MOORING_CONFIG, then worker.yaml in $CONFIGURATION_DIRECTORY, then \
        /etc/mooring/worker.yaml; a file of the last two need not be there.
        """, valueName: "path"), completion: .file())
  var config: String?

  @Option(.concurrency) var concurrency: String?
  @Option(.blockingThreads) var blockingThreads: String?
  @Option(.queues) var queues: String?
  @Option(.syncEvery) var syncEvery: String?
  @Option(.jitter) var jitter: String?
  @Option(.hostSpacing) var hostSpacing: String?
  @Option(.contact) var contact: String?
  @Option(.drainTimeout) var drainTimeout: String?
  @Option(.logLevel) var logLevel: String?
  @Option(.logFormat) var logFormat: String?
  @Option(.metricsFile) var metricsFile: String?
  @Option(.metricsEvery) var metricsEvery: String?
  @Option(.slowFetch) var slowFetch: String?
  @Option(.diskReserve) var diskReserve: String?
  @Option(.keepFinished) var keepFinished: String?
  @Option(.pruneEvery) var pruneEvery: String?

  /// Reads flags, environment and file; a later call reads the file again.
  ///
  /// - Throws: `YAMLError` and `SettingsError`.
  func load() throws -> EffectiveSettings {
    try WorkerSettings.load(
      flags: flags, environment: ProcessInfo.processInfo.environment, file: config)
  }

  private var flags: [String: String] {
    let values: [(Setting, String?)] = [
      (.concurrency, concurrency), (.blockingThreads, blockingThreads), (.queues, queues),
      (.syncEvery, syncEvery), (.jitter, jitter), (.hostSpacing, hostSpacing), (.contact, contact),
      (.drainTimeout, drainTimeout), (.logLevel, logLevel), (.logFormat, logFormat),
      (.metricsFile, metricsFile), (.metricsEvery, metricsEvery), (.slowFetch, slowFetch),
      (.diskReserve, diskReserve),
      (.keepFinished, keepFinished), (.pruneEvery, pruneEvery),
    ]
    return values.reduce(into: [:]) { flags, value in flags[value.0.name] = value.1 }
  }
}

extension Option where Value == String? {
  /// The flag of a setting; what it takes is checked with the environment and the file.
  fileprivate init(_ setting: Setting) {
    let text = setting.defaultText
    self.init(
      name: .customLong(setting.flagName),
      help: ArgumentHelp(
        "\(setting.summary) Default: \(text.isEmpty ? "none" : text).",
        valueName: setting.valueName),
      completion: setting.choices.isEmpty ? nil : .list(setting.choices))
  }
}

extension SettingsError: ExitStatusProviding {
  public var exitStatus: ExitStatus {
    switch code {
    case .flag: .usage
    case .environment, .file: .configuration
    }
  }
}
