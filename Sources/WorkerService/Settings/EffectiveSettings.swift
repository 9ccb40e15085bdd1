import Configuration
import Synchronization

/// Where a setting's value comes from.
public enum SettingSource: Sendable, Equatable, CustomStringConvertible {
  /// The flag with its dashes.
  case flag(String)
  /// The name of the variable.
  case environment(String)
  case file(path: String, line: Int)
  case `default`

  public var description: String {
    switch self {
    case .flag(let name), .environment(let name): name
    case .file(let path, let line): "\(path):\(line)"
    case .default: "default"
    }
  }
}

/// The settings that count, each with its source.
public struct EffectiveSettings: Sendable {
  /// One setting's part.
  public struct Item: Sendable {
    public let setting: Setting
    /// The value as a flag would have it; empty for none.
    public let text: String
    public let source: SettingSource
  }

  public let settings: WorkerSettings
  /// One for each of ``Setting/all``, in its order.
  public let items: [Item]
  /// The file that was read, if any.
  public let file: String?
  /// What is ignored, one line each, for people.
  public let warnings: [String]
}

extension WorkerSettings {
  /// Reads the settings: flags count before the environment, this before the file, and this before
  /// the defaults. All of them must be right, also what is not used because something else counts.
  ///
  /// - Parameter flags: What the command line says, by the names of settings (`syncEvery`).
  /// - Parameter environment: The variables are ``Setting/environmentName``, `MOORING_CONFIG` and
  ///   systemd's `CONFIGURATION_DIRECTORY`.
  /// - Parameter file: The file that `--config` names. Otherwise it is `$MOORING_CONFIG`, or
  ///   `worker.yaml` in `$CONFIGURATION_DIRECTORY` or in `/etc/mooring` if it is there.
  /// - Throws: `YAMLError` with line and column for a mistake in the file; ``SettingsError`` for
  ///   all else.
  public static func load(
    flags: [String: String] = [:], environment: [String: String], file: String? = nil
  ) throws -> EffectiveSettings {
    let path = SettingsFile.path(flag: file, environment: environment)
    let layers = [
      try SettingsLayer.flags(flags), try SettingsLayer.environment(environment),
      try path.map(SettingsFile.layer), SettingsLayer.defaults,
    ].compactMap { $0 }
    let answers = AnswerReporter()
    let reader = ConfigReader(providers: layers.map(\.provider), accessReporter: answers)

    var settings = WorkerSettings()
    var items: [EffectiveSettings.Item] = []
    for setting in Setting.all {
      let text = try reader.requiredString(forKey: ConfigKey([setting.name]))
      // The layers hold only what their setting takes.
      _ = setting.assign(text, to: &settings)
      let source = layers[answers.lastProvider].sources[setting.name] ?? .default
      items.append(.init(setting: setting, text: setting.text(of: settings), source: source))
    }
    return EffectiveSettings(
      settings: settings, items: items, file: path,
      warnings: SettingsLayer.warnings(about: environment))
  }
}

/// Remembers which of a reader's providers had the value that was read last.
private final class AnswerReporter: AccessReporter {
  private let provider = Mutex(0)

  var lastProvider: Int { provider.withLock { $0 } }

  func report(_ event: AccessEvent) {
    // A reader asks its providers in order, and no further than the one that has the value.
    provider.withLock { $0 = event.providerResults.count - 1 }
  }
}
