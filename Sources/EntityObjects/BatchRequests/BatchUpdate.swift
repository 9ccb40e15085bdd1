package import EntityModel
public import EntityStore
package import Foundation

extension Store {
  /// Changes the records that match, in chunks, so that other writers have their turn between them.
  ///
  /// The ids of the matching records are read once. Each record is checked again just before it is
  /// changed, and is changed once, however often the batch is interrupted and run again. A batch is
  /// the same if its entity, predicate, assignments and switched off checks are the same (or if it
  /// has the same name).
  ///
  /// - Parameter progress: Called after each commit.
  /// - Throws: `unknownEntity`, `unknownAttribute`, `unknownRelationship`, `invalidRequest` before
  ///   anything is written. `validation`, `uniqueViolation`, `missingRecord` with the record, and
  ///   `CancellationError`: the earlier chunks stay committed, and the same request continues from
  ///   that point. `busy` if the same batch is running.
  public func execute(
    _ request: BatchUpdateRequest, progress: (@Sendable (BatchProgress) -> Void)? = nil
  ) async throws -> BatchResult {
    try await BatchRun.begin("update", request.identity, request.options, on: self) { run in
      let selection = try BatchSelection(
        request.entityName, request.predicate, beyond: run.start.last, in: self)
      let startedAt = run.start.startedAt
      return try await run.run(
        over: selection, request.resultType, without: request.options.without, progress: progress
      ) { bound, transaction in
        let update = try RecordUpdate(
          request.set, of: bound.entity, startedAt: startedAt, in: transaction)
        return { row, counts, changed in
          do {
            try update.apply(to: row)
          } catch let error as StoreError {
            throw error.about("changed record", "\(request.entityName)/\(row.id)")
          }
          counts.updated += 1
          changed.append(row.id)
        }
      }
    }
  }
}

/// The assignments of a batch update or of a migration step, bound to its entity.
package struct RecordUpdate {
  private let entity: EntityLayout
  private let transaction: WriteTransaction
  /// The assignments of a value that is the same for all records.
  private var constants = RowChanges()
  private var computed: [(position: Int, program: ExpressionProgram)] = []
  private var links: [(relationship: RelationshipLayout, program: ExpressionProgram)] = []

  /// Binds the assignments.
  ///
  /// - Throws: `unknownAttribute`, `invalidRequest`.
  package init(
    _ set: [String: AttributeAssignment], of entity: EntityLayout, startedAt: Date,
    in transaction: WriteTransaction
  ) throws {
    self.entity = entity
    self.transaction = transaction
    let binder = Binder(.entity(entity), in: transaction)
    for (name, assignment) in set.sorted(by: { $0.key < $1.key }) {
      let expression: BoundExpression
      switch assignment {
      case .now: expression = try binder.bind(.value(.date(startedAt)))
      case .expression(let tree): expression = try binder.bind(tree)
      }
      try bind(name, to: expression)
    }
  }

  private mutating func bind(_ name: String, to expression: BoundExpression) throws {
    if let relationship = entity.relationship(named: name), !relationship.description.isHidden {
      try requireFit(expression, relationship)
      links.append((relationship, expression.program))
      return
    }
    let position = try entity.position(of: name)
    let attribute = entity.description.attributes[position]
    guard !attribute.isHidden else {
      throw StoreError.unknownAttribute(name, in: entity.description)
    }
    guard let constant = expression.constant else {
      guard expression.kind.compares(with: .value(attribute.type.kind)) else {
        throw misfit(attribute, expression.kind.name)
      }
      computed.append((position, expression.program))
      return
    }
    guard let value = constant.fitted(to: attribute) else {
      throw misfit(attribute, constant.text)
    }
    constants.set(position, to: value)
  }

  private func requireFit(
    _ expression: BoundExpression, _ relationship: RelationshipLayout
  ) throws {
    let destination = relationship.description.destination
    guard !relationship.isToMany else {
      throw StoreError(
        .invalidRequest, "a batch update sets to-one relationships only",
        [("entity", entity.name), ("relationship", relationship.name)],
        advice: "set the relationship on the other side, or use setRelated in a write")
    }
    guard expression.kind == .null || expression.kind == .object(destination) else {
      throw StoreError(
        .invalidRequest, "a relationship leads to a record of another kind",
        [("relationship", relationship.name), ("found", expression.kind.name)],
        advice: "give it a record of \(destination), or null")
    }
  }

  private func misfit(_ attribute: AttributeDescription, _ found: String) -> StoreError {
    StoreError(
      .invalidRequest, "a value does not fit the attribute that it is for",
      [
        ("entity", entity.name), ("attribute", attribute.name), ("type", attribute.type.name),
        ("value", found),
      ], advice: "give it a value of that type")
  }

  /// Changes one record. All new values are computed from the old ones before any is written.
  package func apply(to row: FetchRow) throws {
    guard case .record(let view) = row.fields else { return }
    var changes: RowChanges
    var targets: [ObjectID?] = []
    do {
      changes = try constants.without { try view.field($0.position).holds($0.value) }
      for (position, program) in computed {
        let attribute = entity.description.attributes[position]
        let value = try program.evaluate(row, in: transaction)
        guard let value = value.fitted(to: attribute) else {
          throw misfit(attribute, value.text)
        }
        if try !view.field(position).holds(value) { changes.set(position, to: value) }
      }
      for (relationship, program) in links {
        let value = try program.evaluate(row, in: transaction)
        guard case .int64(let number) = value else {
          targets.append(nil)
          continue
        }
        targets.append(ObjectID(entity: relationship.description.destination, number: number))
      }
    } catch is RecordDamage {
      throw entity.unreadable(row.id)
    }
    // The views of the row are not valid after the first write.
    if !changes.isEmpty { try transaction.update(changes, id: row.id, old: view, in: entity) }
    let id = ObjectID(entity: entity.name, number: row.id)
    for ((relationship, _), target) in zip(links, targets) {
      try transaction.setRelated(id, relationship.name, to: target)
    }
  }
}

extension Value {
  /// Converts the value to the type of an attribute, by the rules for constants of predicates; a
  /// double that is a whole number can become an integer.
  ///
  /// - Returns: `nil` if the value does not fit.
  package func fitted(to attribute: AttributeDescription) -> Value? {
    let kind = attribute.type.kind
    guard let value = BoundExpression.fit(self, .value(kind), attribute) else { return nil }
    switch (kind, value) {
    case (.double, .int64(let number)): return .double(Double(number))
    case (.int64, .double(let number)): return Int64(exactly: number).map(Value.int64)
    default: return value.isNull || value.kind == kind ? value : nil
    }
  }
}
