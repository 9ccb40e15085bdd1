import EntityModel
import EntityStore
import StrictYAML
import TextFormats

/// Reads a migration file. The dialect is that of `StrictYAML`; the format is documented in
/// MigrationFileReference.md. Conditions that depend on the schema, such as the type of an existing
/// attribute, are checked later, by `SchemaChange`.
struct MigrationFile {
  /// True for a line of system entities, whose names begin with an underscore.
  let isSystem: Bool

  /// Reads a file.
  ///
  /// - Parameter name: The file name without its extension: `NNNN_slug`.
  /// - Throws: `YAMLError`.
  static func read(_ bytes: [UInt8], name: String, file: String) throws -> Migration {
    let root = try YAMLDocument.parse(bytes: bytes, file: file)
    var mapping = try root.mapping()
    let lineNode = try mapping.required("line")
    let line = try lineNode.string()
    let summary = try mapping.required("summary").string()
    let requires = try mapping.optional("requires")?.sequence().map(requirement) ?? []
    let older: OlderPrograms? = try mapping.optional("older")?.choice("what older programs may do")
    let steps = try mapping.required("steps").sequence()
    let down = try mapping.optional("down")?.sequence() ?? []
    try mapping.finish()
    guard let version = Int(name.prefix { $0.isNumber }), version >= 1 else {
      throw root.error("the file is named \"\(name)\"; name it NNNN_slug.yaml, from 0001 on")
    }
    guard isLineName(line) else {
      throw lineNode.error(
        "\"\(line)\" is not a valid name of a line; use lower-case letters, digits, - and .")
    }
    let reader = MigrationFile(isSystem: line == "system" || line.hasPrefix("system."))
    return Migration(
      line: line, version: version, name: name, summary: summary, requires: requires,
      steps: try steps.map(reader.step), down: try down.map(reader.step), older: older ?? .read,
      checksum: MigrationChecksum.of(root), stepChecksums: MigrationChecksum.cumulative(steps),
      downChecksums: MigrationChecksum.cumulative(down))
  }

  private static func requirement(_ node: YAMLNode) throws -> Migration.Requirement {
    let parts = try node.string().split(separator: "@")
    guard parts.count == 2, let version = Int(parts[1]), version >= 1 else {
      throw node.error("write a requirement as line@version, for example homefeed@1")
    }
    return .init(line: String(parts[0]), version: version)
  }

  private func step(_ node: YAMLNode) throws -> MigrationStep {
    var mapping = try node.mapping()
    guard mapping.keys.count == 1, let key = mapping.keys.first?.key else {
      throw node.error("a step is one key, the verb, with its arguments")
    }
    guard let verb = MigrationVerb(rawValue: key) else {
      let known = MigrationVerb.allCases.map(\.rawValue)
      throw node.error(
        "unknown step \"\(key)\"; "
          + NearestName.advice(
            on: key, among: known, otherwise: "known are " + known.joined(separator: ", ")))
    }
    var arguments = try mapping.required(key).mapping()
    let flag = arguments.optional("destructive")
    let step = try step(verb, &arguments)
    try arguments.finish()
    try check(flag, of: step, arguments)
    return step
  }

  private func step(
    _ verb: MigrationVerb, _ arguments: inout YAMLMapping
  ) throws -> MigrationStep {
    switch verb {
    case .createEntity: try createEntity(&arguments)
    case .renameEntity: try renameEntity(&arguments)
    case .dropEntity: try dropEntity(&arguments)
    case .addAttribute: try addAttribute(&arguments)
    case .renameAttribute: try renameAttribute(&arguments)
    case .changeAttribute: try changeAttribute(&arguments)
    case .retypeAttribute: try retypeAttribute(&arguments)
    case .derive: try derive(&arguments)
    case .dropAttribute: try dropAttribute(&arguments)
    case .createIndex: try createIndex(&arguments)
    case .changeIndex: try changeIndex(&arguments)
    case .dropIndex: try dropIndex(&arguments)
    case .createRelationship: try createRelationship(&arguments)
    case .changeRelationship: try changeRelationship(&arguments)
    case .dropRelationship: try dropRelationship(&arguments)
    case .createTemplate: try createTemplate(&arguments)
    case .dropTemplate: try dropTemplate(&arguments)
    case .setHistory: try setHistory(&arguments)
    case .retainHistory: try retainHistory(&arguments)
    case .updateRows: try updateRows(&arguments)
    case .deleteRows: try deleteRows(&arguments)
    case .assert: try assert(&arguments)
    case .runCode: try runCode(&arguments)
    case .importLegacy: try importLegacy(&arguments)
    }
  }

  /// Checks that `destructive: true` is given where data is lost, and nowhere else, so that authors
  /// do not write it from habit.
  private func check(
    _ flag: YAMLNode?, of step: MigrationStep, _ arguments: YAMLMapping
  ) throws {
    guard let loss = step.loss else {
      if let flag { throw flag.error("this step loses nothing; leave destructive out") }
      return
    }
    guard let flag else {
      throw arguments.error("this loses \(loss); if that is intended, add destructive: true")
    }
    guard try flag.bool() else {
      throw flag.error("this loses \(loss); if that is intended, write true here")
    }
  }
}

// MARK: Names

extension MigrationFile {
  /// Reads a new name.
  func identifier(_ node: YAMLNode, allowsUnderscore: Bool = false) throws -> String {
    let name = try node.string()
    guard Self.isIdentifier(name, ofSystem: allowsUnderscore) else {
      throw node.error(
        "\"\(name)\" is not a valid name; use a letter, then letters, digits or _, at most 63")
    }
    return name
  }

  /// Checks the name byte by byte. Each opening of a store reads all files, and compiling a regular
  /// expression for each name took two fifths of that time.
  private static func isIdentifier(_ name: String, ofSystem isOfSystem: Bool) -> Bool {
    var bytes = Substring(name).utf8
    if isOfSystem, bytes.first == UInt8(ascii: "_") { bytes.removeFirst() }
    guard let first = bytes.first, isLetter(first), bytes.count <= 63 else { return false }
    return bytes.allSatisfy { byte in
      isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || (byte == UInt8(ascii: "_") && !isOfSystem)
    }
  }

  private static func isLineName(_ name: String) -> Bool {
    guard let first = name.utf8.first, isLetter(first), name.utf8.count <= 64 else { return false }
    return name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "."), UInt8(ascii: "-"):
        true
      default: false
      }
    }
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  /// Reads the new name of an entity.
  func entityName(_ node: YAMLNode) throws -> String {
    let name = try identifier(node, allowsUnderscore: isSystem)
    guard isSystem == name.hasPrefix("_") else {
      throw node.error("names of system entities, and only those, begin with an underscore")
    }
    return name
  }

  /// Reads the name of an existing entity that this line may change.
  func entity(_ arguments: inout YAMLMapping, _ key: String = "on") throws -> String {
    let node = try arguments.required(key)
    let name = try node.string()
    guard isSystem == name.hasPrefix("_") else {
      throw node.error(
        isSystem
          ? "a line of system entities changes only those: their names begin with an underscore"
          : "\(name) is an entity of the system; only its own line changes it")
    }
    return name
  }
}

extension YAMLNode {
  /// Reads one of several words.
  ///
  /// - Parameter what: The subject of the error message "`what` is one of …".
  func choice<T: RawRepresentable<String> & CaseIterable>(_ what: String) throws -> T {
    let word = try string()
    guard let choice = T(rawValue: word) else {
      let known = T.allCases.map(\.rawValue)
      throw error("\(what) is one of \(known.joined(separator: ", "))")
    }
    return choice
  }
}
