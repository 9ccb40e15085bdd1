import EntityModel
import Foundation

/// Two judges that answer a request differently: all that is needed to read it.
struct Disagreement: Error, CustomStringConvertible {
  var seed: UInt64
  var round: Int
  var request: FetchRequest
  var judge: String
  var expected: String
  var found: String
  var plan: String
  var schema: String

  var description: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    let json: String
    do {
      json = String(decoding: try encoder.encode(request), as: UTF8.self)
    } catch {
      json = "\(error)"
    }
    return """
      seed \(seed), round \(round): \(judge) differs
      predicate: \(request.predicate?.description ?? "none")
      having: \(request.havingPredicate?.description ?? "none")
      request: \(json)
      plan: \(plan)
      expected: \(expected)
      found:    \(found)
      schema:
      \(schema)
      """
  }
}

extension FetchRequest {
  /// Simplified variants of a request: the smallest one that still fails is easiest to read.
  var smaller: [FetchRequest] {
    var found: [FetchRequest] = []
    func add(_ change: (inout FetchRequest) -> Void) {
      var request = self
      change(&request)
      if request != self { found.append(request) }
    }
    add { $0.predicate = nil }
    for part in predicate?.smaller ?? [] { add { $0.predicate = part } }
    add { $0.fetchLimit = nil }
    add { $0.fetchOffset = 0 }
    add { $0.returnsDistinctResults = false }
    add { $0.havingPredicate = nil }
    for part in havingPredicate?.smaller ?? [] { add { $0.havingPredicate = part } }
    for place in sortBy.indices { add { $0.sortBy.remove(at: place) } }
    if propertiesToFetch.count > 1 {
      for place in propertiesToFetch.indices { add { $0.propertiesToFetch.remove(at: place) } }
    }
    if propertiesToGroupBy.count > 1 {
      for place in propertiesToGroupBy.indices { add { $0.propertiesToGroupBy.remove(at: place) } }
    }
    return found
  }
}

extension FetchPredicate {
  fileprivate var smaller: [FetchPredicate] {
    switch self {
    case .always, .comparison: return []
    case .exists(let path, let part): return part.smaller.map { .exists(path, $0) }
    case .not(let part): return [part] + part.smaller.map { .not($0) }
    case .and(let parts): return parts + Self.shrunk(parts).map { .and($0) }
    case .or(let parts): return parts + Self.shrunk(parts).map { .or($0) }
    }
  }

  /// Without one of the parts, or with one of them smaller.
  private static func shrunk(_ parts: [FetchPredicate]) -> [[FetchPredicate]] {
    parts.indices.flatMap { place in
      var without = parts
      without.remove(at: place)
      return [without]
        + parts[place].smaller.map { part in
          var changed = parts
          changed[place] = part
          return changed
        }
    }
  }
}
