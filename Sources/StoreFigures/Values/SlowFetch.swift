import EntityModel
import EntityStore
public import Foundation

/// Fetches that took longer than the threshold and have their shape in common: the entity, the
/// predicate but for its constants, the order, the groups and the access.
public struct SlowFetch: Codable, Equatable, Sendable {
  let shape: Int64
  public let entity: String
  /// The slowest of them as `mooring fetch` would be called; at most 1,000 bytes.
  public private(set) var request: String
  /// The plan of the slowest with what it has read; at most 1,000 bytes.
  public private(set) var plan: String
  public private(set) var count: Int64
  public private(set) var totalSeconds: Double
  public private(set) var maxSeconds: Double
  public let firstAt: Date
  public private(set) var lastAt: Date

  init(_ fetch: ObservedFetch, at time: Date) {
    shape = fetch.shape
    entity = fetch.request.entityName.cut(toBytes: Limits.entityNameBytesMax)
    request = fetch.request.commandLine.cut(toBytes: Limits.fetchTextBytesMax)
    plan = fetch.plan.cut(toBytes: Limits.fetchTextBytesMax)
    count = 1
    totalSeconds = fetch.seconds
    maxSeconds = fetch.seconds
    (firstAt, lastAt) = (time, time)
  }

  /// Adds fetches of the same shape that came after these.
  mutating func add(_ later: SlowFetch) {
    count += later.count
    totalSeconds += later.totalSeconds
    lastAt = later.lastAt
    if later.maxSeconds > maxSeconds {
      (maxSeconds, request, plan) = (later.maxSeconds, later.request, later.plan)
    }
  }
}

extension SlowFetch {
  init(_ record: Record) throws {
    shape = try record["shape"].int64Value ?? 0
    entity = try record["entity"].stringValue ?? ""
    request = try record["request"].stringValue ?? ""
    plan = try record["plan"].stringValue ?? ""
    count = try record["count"].int64Value ?? 0
    totalSeconds = try record["totalSeconds"].doubleValue ?? 0
    maxSeconds = try record["maxSeconds"].doubleValue ?? 0
    firstAt = try record["firstAt"].dateValue ?? .distantPast
    lastAt = try record["lastAt"].dateValue ?? .distantPast
  }

  var values: [String: Value] {
    [
      "shape": .int64(shape), "entity": .string(entity), "request": .string(request),
      "plan": .string(plan), "count": .int64(count), "totalSeconds": .double(totalSeconds),
      "maxSeconds": .double(maxSeconds), "firstAt": .date(firstAt), "lastAt": .date(lastAt),
    ]
  }
}

extension ObservedFetch {
  /// A hash of what requests of one shape have in common.
  fileprivate var shape: Int64 {
    let parts =
      [request.entityName, request.predicate.map { "\($0.masked)" } ?? ""]
      + request.sortBy.map(\.description) + ["by"] + request.propertiesToGroupBy + [access]
    return ContentHash.of(parts.joined(separator: "\0"))
  }

  fileprivate var seconds: Double { duration / .seconds(1) }
}

extension FetchPredicate {
  /// The predicate with `$"?"` in place of each constant and of each list of constants.
  fileprivate var masked: FetchPredicate {
    switch self {
    case .always: return self
    case .comparison(var comparison):
      comparison.left = comparison.left.masked
      comparison.right = comparison.right.masked
      return .comparison(comparison)
    case .exists(let path, let part): return .exists(path, part.masked)
    case .and(let parts): return .and(parts.map(\.masked))
    case .or(let parts): return .or(parts.map(\.masked))
    case .not(let part): return .not(part.masked)
    }
  }
}

extension FetchExpression {
  fileprivate var masked: FetchExpression {
    switch self {
    case .value, .object, .list: .variable("?")
    case .path, .itself, .variable, .collection: self
    case .aggregate(let function, let part): .aggregate(function, part?.masked)
    case .arithmetic(let sign, let left, let right): .arithmetic(sign, left.masked, right.masked)
    case .negative(let part): .negative(part.masked)
    }
  }
}
