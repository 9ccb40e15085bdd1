import EntityModel
import EntityStore

/// The store, the naive evaluation and SQLite, before the same data.
struct Judges {
  let data: ModelData
  let sql: SQLFetch
  let transaction: ReadTransaction
  let seed: UInt64
  let round: Int
  let schema: RandomSchema

  /// Adds what was found to the tally: a disagreement about a request as small as could be found.
  func compare(_ request: FetchRequest, _ tally: inout Tally) throws {
    switch try verdict(request, isThorough: tally.requests % 4 == 0) {
    case .agreed(let isInSQL):
      tally.add(ConstructFinder.constructs(of: request, data.entities), inSQL: isInSQL)
      for kind in try transaction.explain(request).kinds { tally.plans[kind, default: 0] += 1 }
    case .undefined: tally.undefined += 1
    case .failed(let failure): tally.disagreements.append(report(request, failure))
    }
  }

  // MARK: One request

  private enum Verdict {
    case agreed(inSQL: Bool)
    /// A number is out of range: the store may report it, or may not have evaluated it.
    case undefined
    case failed(Failure)
  }

  private struct Failure {
    var judge: String
    var expected: String
    var found: String
  }

  /// - Parameter isThorough: Whether the count is asked for, too, and the request with an index
  ///   required.
  private func verdict(_ request: FetchRequest, isThorough: Bool = true) throws -> Verdict {
    let expected: FetchAnswer
    do {
      expected = try NaiveFetch(data: data).answer(request)
    } catch NaiveError.overflow {
      return .undefined
    }
    let constructs = ConstructFinder.constructs(of: request, data.entities)
    let isInSQL = constructs.isSubset(of: Construct.inSQL)
    if isInSQL, let failure = sqlFailure(request, SQLFetch.inSQL(expected)) {
      return .failed(failure)
    }
    if let failure = storeFailure(request, expected, isThorough) { return .failed(failure) }
    return .agreed(inSQL: isInSQL)
  }

  private func sqlFailure(_ request: FetchRequest, _ expected: FetchAnswer) -> Failure? {
    do {
      let found = try sql.answer(request)
      if found == expected { return nil }
      let text = try SQLQuery(request, entities: data.entities).text
      return Failure(
        judge: "SQLite", expected: expected.text, found: found.text + "\n" + text)
    } catch {
      return Failure(judge: "SQLite", expected: expected.text, found: "\(error)")
    }
  }

  private func storeFailure(
    _ request: FetchRequest, _ expected: FetchAnswer, _ isThorough: Bool
  ) -> Failure? {
    do {
      let found = try answer(request)
      if found != expected {
        return Failure(judge: "the store", expected: expected.text, found: found.text)
      }
      guard isThorough else { return nil }
      if request.resultType != .count {
        let count = try transaction.count(request)
        if count != expected.count {
          return Failure(
            judge: "the store's count", expected: "\(expected.count)", found: "\(count)")
        }
      }
      return try strictFailure(request, expected)
    } catch {
      return Failure(judge: "the store", expected: expected.text, found: "\(error)")
    }
  }

  private func answer(_ request: FetchRequest) throws -> FetchAnswer {
    switch try transaction.execute(request) {
    case .count(let count): return .count(count)
    case .rows(let rows): return .rows(rows.map(\.values))
    case .identifiers(let ids): return .identities(ids.map(\.number))
    case .entities(let records):
      for record in records {
        let model = data.record(record.id.entity, record.id.number)
        for (name, value) in record.fields where model?.values[name] ?? value != value {
          return .rows([[.string("\(record.id).\(name)"), value]])
        }
      }
      return .identities(records.map(\.id.number))
    }
  }

  /// Repeats the request with the option that requires an index. The result must be the same or the
  /// error that no index fits; the error is wrong if the store chose an index by itself.
  private func strictFailure(_ request: FetchRequest, _ expected: FetchAnswer) throws -> Failure? {
    var strict = request
    strict.requiresIndex = true
    let judge = "the store with requiresIndex"
    let slow: Set<PlanKind> = [.scan, .sortInMemory]
    do {
      let found = try answer(strict)
      if found != expected {
        return Failure(judge: judge, expected: expected.text, found: found.text)
      }
      let plan = try transaction.explain(strict)
      if plan.kinds.isDisjoint(with: slow) { return nil }
      return Failure(judge: judge, expected: "a refusal", found: plan.description)
    } catch let error as StoreError where error.code == .requiresIndex {
      if request.isGrouped { return nil }
      let kinds = try transaction.explain(request).kinds
      return kinds.isDisjoint(with: slow)
        ? Failure(judge: judge, expected: "an answer", found: "\(error)") : nil
    }
  }

  // MARK: A failure

  private func report(_ request: FetchRequest, _ failure: Failure) -> Disagreement {
    var (request, failure) = (request, failure)
    search: for _ in 0..<200 {
      for candidate in request.smaller {
        // A candidate that means nothing any more (a sort by a column that went) is no candidate.
        guard let verdict = try? verdict(candidate), case .failed(let smaller) = verdict else {
          continue
        }
        if smaller.judge != failure.judge { continue }
        (request, failure) = (candidate, smaller)
        continue search
      }
      break
    }
    let plan: String
    do { plan = try transaction.explain(request).description } catch { plan = "\(error)" }
    return Disagreement(
      seed: seed, round: round, request: request, judge: failure.judge,
      expected: failure.expected, found: failure.found, plan: plan, schema: schema.yaml)
  }
}
