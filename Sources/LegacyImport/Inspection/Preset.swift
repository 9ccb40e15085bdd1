import EntityModel

/// The meaning of the tables of a known program. Each part is checked against the columns that are
/// there, and tables and columns that a preset does not know are guessed like others.
struct Preset: Sendable {
  struct Table: Sendable {
    let name: String
    let entity: String
    let columns: [Column]
    let references: [ReferenceGuess]
  }

  struct Column: Sendable {
    let name: String
    let attribute: String
    /// The type; `nil` for the guessed one.
    let type: AttributeType?
    let conversion: Conversion

    init(
      _ name: String, _ attribute: String, _ type: AttributeType? = nil,
      _ conversion: Conversion = .none
    ) {
      self.name = name
      self.attribute = attribute
      self.type = type
      self.conversion = conversion
    }
  }

  let program: String
  let tables: [Table]
  /// Tables that are useless outside the program.
  let skippedTables: Set<String>
  /// The columns that identify the program, by table.
  let signature: [String: [String]]

  static let all: [Preset] = [.newsboat, .gPodder]

  func fits(_ tables: [SourceTable]) -> Bool {
    signature.allSatisfy { name, columns in
      guard let table = tables.first(where: { $0.name == name }) else { return false }
      return columns.allSatisfy { table.column($0) != nil }
    }
  }

  func apply(to guess: inout TableGuess) {
    guard let table = tables.first(where: { $0.name == guess.table.name }) else { return }
    guess.entity = table.entity
    for column in table.columns {
      guard let place = guess.columns.firstIndex(where: { $0.column == column.name }),
        let profile = guess.profile(of: column.name)
      else { continue }
      guess.columns[place].name = column.attribute
      guess.columns[place].apply(column, profile, program)
    }
    for reference in table.references
    where reference.columns.allSatisfy({ guess.table.column($0) != nil }) {
      var reference = reference
      let found = guess.references.first { $0.columns == reference.columns }
      reference.evidence = found?.evidence ?? []
      reference.evidence.append("known of \(program)")
      reference.orphan = found?.orphan ?? .reject
      guess.references.removeAll { $0.columns == reference.columns }
      guess.references.append(reference)
    }
  }
}

extension ColumnGuess {
  /// Applies a preset, if the distinct values fit its type.
  fileprivate mutating func apply(
    _ column: Preset.Column, _ profile: ColumnProfile, _ program: String
  ) {
    guard let type = column.type else { return }
    for (cell, _) in profile.distinct.sorted {
      let value: Value
      switch cell {
      case .integer(let number): value = .int64(number)
      case .text(let text): value = .string(text)
      default: continue
      }
      do throws(ConversionFailure) {
        _ = try column.conversion.value(from: value, to: type)
      } catch {
        evidence.append(
          "\(program) has \(type.name) here, which \(cell.shown) is not: \(error.code.rawValue)")
        return
      }
    }
    self.type = type
    conversion = column.conversion
    unconfirmed = nil
    if !conversion.nullValues.isEmpty || conversion.emptyIsNull { isOptional = true }
  }
}
