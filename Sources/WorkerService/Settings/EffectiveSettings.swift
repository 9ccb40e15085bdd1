import EntityModel
import TextFormats

/// The place a setting's value comes from.
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

/// The settings in effect, each with its source.
public struct EffectiveSettings: Sendable {
  /// One setting with its value.
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
  /// One line, for people, for each variable that is ignored.
  public let warnings: [String]
}

/// An error in the settings outside of the file's content, for which there is `YAMLError`.
public struct SettingsError: Error, Sendable, Equatable, CustomStringConvertible {
  public enum Code: Sendable {
    /// A flag has a value that its setting does not take.
    case flag
    /// A variable of the environment has a value that its setting does not take.
    case environment
    /// The file cannot be read.
    case file
  }

  public let code: Code
  /// One line: the problem, and the remedy.
  public let description: String
}

/// The values that one place gives, by the names of settings. Each has been checked.
typealias SettingValues = [String: (text: String, source: SettingSource)]

extension WorkerSettings {
  /// Reads the settings: flags override the environment, which overrides the file, which overrides
  /// the defaults. A value that is overridden must be valid, too.
  ///
  /// - Parameter flags: The values of the command line, by the names of settings (`syncEvery`).
  /// - Parameter environment: The variables are ``Setting/environmentName``, `MOORING_CONFIG` and
  ///   systemd's `CONFIGURATION_DIRECTORY`.
  /// - Parameter file: The file that `--config` names. Otherwise it is `$MOORING_CONFIG`, or
  ///   `worker.yaml` in `$CONFIGURATION_DIRECTORY` or in `/etc/mooring` if it exists.
  /// - Throws: `YAMLError` with line and column for a mistake in the file; ``SettingsError`` for
  ///   all other mistakes.
  public static func load(
    flags: [String: String] = [:], environment: [String: String], file: String? = nil
  ) throws -> EffectiveSettings {
    let path = SettingsFile.path(flag: file, environment: environment)
    let places: [SettingValues] = [
      try values(.flag) { setting in
        flags[setting.name].map { (text: $0, source: .flag(setting.flag)) }
      },
      try values(.environment) { setting in
        // An empty variable counts as absent, as in most programs.
        let name = setting.environmentName
        guard let text = environment[name], !text.isEmpty else { return nil }
        return (text, .environment(name))
      },
      try path.map(SettingsFile.values(in:)) ?? [:],
    ]
    var settings = WorkerSettings()
    let items = Setting.all.map { setting in
      let given = places.lazy.compactMap { $0[setting.name] }.first
      if let given { _ = setting.assign(given.text, to: &settings) }
      return EffectiveSettings.Item(
        setting: setting, text: setting.text(of: settings), source: given?.source ?? .default)
    }
    return EffectiveSettings(
      settings: settings, items: items, file: path, warnings: warnings(about: environment))
  }

  /// - Throws: ``SettingsError`` with this code for the first value that its setting does not take.
  private static func values(
    _ code: SettingsError.Code, _ find: (Setting) -> (text: String, source: SettingSource)?
  ) throws(SettingsError) -> SettingValues {
    var values: SettingValues = [:]
    var scratch = WorkerSettings()
    for setting in Setting.all {
      guard let value = find(setting) else { continue }
      guard setting.assign(value.text, to: &scratch) else {
        throw SettingsError(
          code: code, description: setting.refusal(of: value.text, "\(value.source)"))
      }
      values[setting.name] = value
    }
    return values
  }

  /// A warning for each variable that looks like a setting and is none, in the order of names.
  private static func warnings(about environment: [String: String]) -> [String] {
    let known = Setting.all.map(\.environmentName)
    return environment.keys.filter {
      $0.hasPrefix(Setting.environmentPrefix) && !known.contains($0)
    }
    .sorted().map { variable in
      let advice = NearestName.advice(
        on: variable, among: known, otherwise: "`mooring config` lists the settings")
      return "the environment variable \(variable) is no setting and is ignored; \(advice)"
    }
  }
}
