import Foundation
import Glibc
import TestSupport

@testable import EntityStore
@testable import Migrations

/// Sets of keys that are hard to sort: by their beginnings, their ends or their bytes.
enum RandomKeys: CaseIterable {
  case short, fewBytes, prefixesOfOthers, longBeginnings, longest, ascending, descending

  /// Unique keys in the order in which they come.
  func keys(count: Int, _ random: inout SeededRandom) -> [[UInt8]] {
    switch self {
    case .ascending: return sorted(RandomKeys.short.keys(count: count, &random))
    case .descending: return sorted(RandomKeys.short.keys(count: count, &random)).reversed()
    default:
      var seen: Set<[UInt8]> = []
      var keys: [[UInt8]] = []
      for _ in 0..<count {
        let key = key(&random)
        if seen.insert(key).inserted { keys.append(key) }
      }
      return keys
    }
  }

  private func key(_ random: inout SeededRandom) -> [UInt8] {
    switch self {
    case .short, .ascending, .descending:
      return random.bytes(count: Int.random(in: 1...40, using: &random))
    case .fewBytes:
      return (0..<Int.random(in: 1...20, using: &random)).map { _ in
        [0, 0, 1, 0xFF].randomElement(using: &random) ?? 0
      }
    case .prefixesOfOthers:
      let byte: UInt8 = Bool.random(using: &random) ? 0 : 0xFF
      return Array(repeating: byte, count: Int.random(in: 1...511, using: &random))
    case .longBeginnings:
      let depth = [7, 8, 9, 16, 100, 300].randomElement(using: &random) ?? 0
      return Array(repeating: 7, count: depth)
        + random.bytes(count: Int.random(in: 0...4, using: &random))
    case .longest:
      return Array(repeating: 3, count: 500) + random.bytes(count: 11)
    }
  }
}

/// In the order of LMDB, by the C library: the standard library takes seconds in a debug build.
func sorted(_ keys: [[UInt8]]) -> [[UInt8]] {
  keys.sorted {
    let order = memcmp($0, $1, min($0.count, $1.count))
    return order == 0 ? $0.count < $1.count : order < 0
  }
}

/// Sorts the keys into runs.
func makeRuns(
  _ keys: [[UInt8]], in folder: KeyRunFolder, owner: String = "test", memoryMax: Int
) throws -> KeyRuns {
  var writer = try KeyRunWriter(folder: folder, owner: owner, memoryMax: memoryMax)
  for key in keys { try key.withUnsafeBytes { try writer.add($0) } }
  return try writer.finish()
}

/// Returns the output of a merge until it ends or throws.
func merged(
  _ runs: KeyRuns, in folder: KeyRunFolder, after key: [UInt8]? = nil
) -> (keys: [[UInt8]], error: StoreError?) {
  var keys: [[UInt8]] = []
  do throws(StoreError) {
    var merge = try runs.merge(in: folder, after: key)
    while let key = try merge.next() { keys.append(Array(key)) }
    return (keys, nil)
  } catch {
    return (keys, error)
  }
}

/// Runs the body with the scratch folder of a store that is not there.
func withScratchFolder<R>(_ body: (KeyRunFolder) throws -> R) throws -> R {
  try withTemporaryFolder { try body(KeyRunFolder(ofStore: $0.path)) }
}

/// The files in the scratch folder.
func scratchFiles(_ folder: KeyRunFolder) throws -> [String] {
  try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
}
