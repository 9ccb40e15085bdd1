import ArgumentParser
import Console
import WorkerService

struct ConfigCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config",
    abstract: "Prints the effective settings of the worker and the source of each.",
    discussion: """
      mooring config --sync-every 30m --format json

      Flags count before variables of the environment, these before the file, and this before the \
      defaults. A setting whose last column says "restart" applies from the next start of the \
      worker on; the others also after `systemctl reload` (SIGHUP). The feeds and their times are \
      in the store: see `mooring feed list`.
      """)

  @OptionGroup var options: WorkerOptions
  @Option(help: "table or json.", completion: .tableOrJSON) var format = OutputFormat.table

  func validate() throws { try format.require(.table, .json) }

  func run() throws {
    let effective = try options.load()
    for warning in effective.warnings { Message.say(warning) }
    try format.write(ConfigDocument(effective)) { try $0.write(table(effective.items)) }
  }

  private func table(_ items: [EffectiveSettings.Item]) -> TextTable {
    var table = TextTable([
      .init("setting"), .init("value"), .init("from"), .init("change"),
    ])
    for item in items {
      table.append([
        item.setting.name, item.text.isEmpty ? "none" : item.text, "\(item.source)",
        item.setting.reload.rawValue,
      ])
    }
    return table
  }
}

/// The document of `mooring config --format json`. Its keys are stable; nil members are left out.
private struct ConfigDocument: Encodable {
  struct Setting: Encodable {
    let name: String
    /// The value in the form of a flag; nil for none.
    let value: String?
    let source: String
    /// The flag or variable that set it, or the file.
    let sourceName: String?
    let line: Int?
    let flag: String
    let environment: String
    let change: String
  }

  /// The file that was read.
  let file: String?
  let settings: [Setting]

  init(_ effective: EffectiveSettings) {
    file = effective.file
    settings = effective.items.map { item in
      let (source, name, line) = Self.parts(of: item.source)
      return Setting(
        name: item.setting.name, value: item.text.isEmpty ? nil : item.text, source: source,
        sourceName: name, line: line, flag: item.setting.flag,
        environment: item.setting.environmentName, change: item.setting.reload.rawValue)
    }
  }

  private static func parts(of source: SettingSource) -> (String, String?, Int?) {
    switch source {
    case .flag(let name): ("flag", name, nil)
    case .environment(let name): ("environment", name, nil)
    case .file(let path, let line): ("file", path, line)
    case .default: ("default", nil, nil)
    }
  }
}
