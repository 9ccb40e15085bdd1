import EntityModel
import EntityObjects
import EntityStore

/// Gives values to attributes that are still hidden, record by record.
struct RecordFilling {
  private struct Target {
    let position: Int
    let attribute: AttributeDescription
    let validator: AttributeValidator
    let source: Source
  }

  private enum Source {
    case conversion(position: Int, Conversion)
    case expression(ExpressionProgram)
    /// The result for an attribute from the code with that number.
    case code(Int, name: String)
  }

  private let entity: EntityLayout
  private let transaction: WriteTransaction
  private var targets: [Target] = []
  private var codes: [(code: MigrationCode, changes: [String])] = []

  /// Prepares the computation of the values.
  ///
  /// - Parameter codes: The code that the program has registered.
  /// - Throws: `migration` for code that is not registered, and for an expression that does not
  ///   fit.
  init(
    _ fillings: [StepWork.Filling], of entity: EntityLayout, codes: [MigrationCode],
    in transaction: WriteTransaction
  ) throws {
    self.entity = entity
    self.transaction = transaction
    let binder = Binder(.entity(entity), in: transaction)
    for filling in fillings {
      let source: Source
      switch filling.source {
      case .conversion(let id, let conversion):
        source = .conversion(position: try position(of: id), conversion)
      case .expression(let tree):
        source = .expression(try binder.bind(tree).program)
      case .code(let reference, let name):
        source = .code(try number(of: reference, among: codes), name: name)
      }
      targets.append(
        Target(
          position: try position(of: filling.attribute.id), attribute: filling.attribute,
          validator: try AttributeValidator(filling.attribute), source: source))
    }
  }

  /// Fills a record of which nothing has been filled.
  func fill(_ view: RecordView, id: Int64) throws {
    try encoded(view, id: id) { try transaction.fill($0, id: id, in: entity) }
  }

  /// Fills a record again, also in the indexes under construction.
  func refill(_ view: RecordView, id: Int64) throws {
    try encoded(view, id: id) {
      try transaction.replace(old: view, new: $0, id: id, in: entity)
    }
  }

  private func encoded(
    _ view: RecordView, id: Int64, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let scratch = transaction.scratch
    entity.encode(try row(view, id: id), into: &scratch.record)
    try scratch.record.withUnsafeBytes(body)
  }

  /// Returns the values of the filled attributes.
  ///
  /// - Throws: `validation` with the name of the record, for a value that cannot be converted,
  ///   breaks a rule, or is missing although it is required.
  private func row(_ view: RecordView, id: Int64) throws -> [Value] {
    try entity.reading(id) { () -> [Value] in
      var values = try view.values()
      let results = try codes.map { try run($0.code, changes: $0.changes, values, id: id) }
      for target in targets {
        let value = try value(of: target, view, values, results, id: id)
        if let failure = target.validator.failure(of: value) {
          throw refusal(target.attribute, id: id, "\(failure)")
        }
        values[target.position] = value
      }
      return values
    }
  }

  private func value(
    of target: Target, _ view: RecordView, _ values: [Value], _ results: [[String: Value]],
    id: Int64
  ) throws -> Value {
    switch target.source {
    case .conversion(let position, let conversion):
      do throws(ConversionFailure) {
        return try conversion.value(from: values[position], to: target.attribute.type)
      } catch {
        throw refusal(target.attribute, id: id, "\(error)")
      }
    case .expression(let program):
      let value = try program.evaluate(FetchRow(id: id, view: view), in: transaction)
      guard let fitted = value.fitted(to: target.attribute) else {
        let type = target.attribute.type.name
        throw refusal(target.attribute, id: id, "\(value.text) is not of type \(type)")
      }
      return fitted
    case .code(let number, let name):
      return results[number][name] ?? .null
    }
  }

  private func run(
    _ code: MigrationCode, changes: [String], _ values: [Value], id: Int64
  ) throws -> [String: Value] {
    var record = MigratedRecord(
      id: ObjectID(entity: entity.name, number: id), positions: entity.positions, values: values,
      changes: [:])
    for name in changes { record.changes[name] = try record[name] }
    do {
      try code.body(&record)
    } catch {
      throw StoreError(
        .validation, "a code step failed",
        [("code", code.name), ("record", record.id.description), ("error", "\(error)")],
        object: record.id)
    }
    return record.changes
  }

  private mutating func number(
    of reference: CodeReference, among registered: [MigrationCode]
  ) throws -> Int {
    if let known = codes.firstIndex(where: { $0.code.name == reference.name }) { return known }
    codes.append((try reference.code(among: registered), reference.changes))
    return codes.count - 1
  }

  private func position(of id: Int) throws -> Int {
    guard let position = entity.description.attributes.firstIndex(where: { $0.id == id }) else {
      throw StoreError.damaged("a build names an unknown attribute", entity: entity.name)
    }
    return position
  }

  private func refusal(
    _ attribute: AttributeDescription, id: Int64, _ reason: String
  ) -> StoreError {
    let record = ObjectID(entity: entity.name, number: id)
    return StoreError(
      .validation, "a changed attribute cannot have the value that a record gives it",
      [("record", record.description), ("attribute", attribute.name), ("reason", reason)],
      advice: "correct the record or the step, then run `mooring migrate up` again",
      object: record, property: attribute.name)
  }
}

extension CodeReference {
  /// Returns the registered code that the reference names.
  ///
  /// - Throws: `migration` if the program has not registered it.
  func code(among registered: [MigrationCode]) throws(StoreError) -> MigrationCode {
    if let code = registered.first(where: { $0.name == name && $0.revision == revision }) {
      return code
    }
    let known = registered.map { "\($0.name) \($0.revision)" }
    throw StoreError(
      .migration, "a code step is not part of this program",
      [("code", name), ("revision", String(revision))],
      advice: known.isEmpty
        ? "run the program that provides it"
        : "run the program that provides it; this one has " + known.joined(separator: ", "))
  }
}
