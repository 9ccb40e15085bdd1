import Configuration
import EntityModel
import TextFormats

/// What one place says about the settings, as text that has been checked.
struct SettingsLayer {
  let name: String
  /// By the names of settings.
  let values: [String: String]
  let sources: [String: SettingSource]

  var provider: InMemoryProvider {
    InMemoryProvider(
      name: name,
      values: Dictionary(
        uniqueKeysWithValues: values.map { name, text in
          (AbsoluteConfigKey([name]), ConfigValue(.string(text), isSecret: false))
        }))
  }

  /// - Parameter flags: By the names of settings.
  /// - Throws: ``SettingsError`` for the first value that is none.
  static func flags(_ flags: [String: String]) throws(SettingsError) -> SettingsLayer {
    var sources: [String: SettingSource] = [:]
    for setting in Setting.all {
      guard let text = flags[setting.name] else { continue }
      try check(text, setting, setting.flag, .flag)
      sources[setting.name] = .flag(setting.flag)
    }
    return SettingsLayer(name: "flags", values: flags, sources: sources)
  }

  /// An empty variable counts as none, as in most programs.
  ///
  /// - Throws: ``SettingsError`` for the first value that is none.
  static func environment(
    _ environment: [String: String]
  ) throws(SettingsError) -> SettingsLayer {
    var values: [String: String] = [:]
    var sources: [String: SettingSource] = [:]
    for setting in Setting.all {
      let variable = setting.environmentName
      guard let text = environment[variable], !text.isEmpty else { continue }
      try check(text, setting, variable, .environment)
      values[setting.name] = text
      sources[setting.name] = .environment(variable)
    }
    return SettingsLayer(name: "environment", values: values, sources: sources)
  }

  static let defaults = SettingsLayer(
    name: "defaults",
    values: Dictionary(uniqueKeysWithValues: Setting.all.map { ($0.name, $0.defaultText) }),
    sources: Dictionary(uniqueKeysWithValues: Setting.all.map { ($0.name, .default) }))

  /// A warning for each variable that looks like a setting and is none, in the order of names.
  static func warnings(about environment: [String: String]) -> [String] {
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

  private static func check(
    _ text: String, _ setting: Setting, _ place: String, _ code: SettingsError.Code
  ) throws(SettingsError) {
    var scratch = WorkerSettings()
    guard setting.assign(text, to: &scratch) else {
      throw SettingsError(code: code, description: setting.refusal(of: text, place))
    }
  }
}
