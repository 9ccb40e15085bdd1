import EntityStore

/// The sorted runs of one owner: the description that a resumed merge needs. The caller stores it.
///
/// The files are scratch files and may be missing or damaged when they are needed. The caller sorts
/// again then.
struct KeyRuns: Codable, Equatable, Sendable {
  /// The greatest number of runs that are merged at a time: they take 4 MiB of blocks, and few
  /// descriptors.
  static let runsMax = 64

  let owner: String
  let runs: [KeyRun]

  /// The number of keys in all runs; a key that is in several runs counts once for each.
  var keys: Int { runs.reduce(0) { $0 + $1.keys } }

  /// Returns true if every run exists and is as it was written.
  ///
  /// - Throws: `notPermitted`, `inputOutput`, `storage` if the system refuses access.
  /// - Complexity: Reads all files.
  func verify(in folder: KeyRunFolder) throws(StoreError) -> Bool {
    guard runs.count <= KeyRuns.runsMax else { return false }
    do throws(StoreError) {
      for run in runs {
        var reader = try KeyRunReader(run, of: owner, in: folder)
        try reader.checkBlocks()
      }
      return true
    } catch {
      if error.code == .damaged { return false }
      throw error
    }
  }

  /// Returns the keys that are greater than `key`, or all of them, in ascending order.
  ///
  /// - Throws: `damaged` if a run is missing or not as it was written, here or when it is read;
  ///   `notPermitted`, `inputOutput`, `storage` if the system refuses access.
  /// - Complexity: O(log blocks) reads for each run. The merge holds one block of 64 KiB and one
  ///   descriptor for each.
  func merge(in folder: KeyRunFolder, after key: [UInt8]? = nil) throws(StoreError) -> KeyMerge {
    guard runs.count <= KeyRuns.runsMax else {
      throw .damagedRun(folder.path, "more runs are listed than a sort leaves")
    }
    return try KeyMerge(runs, of: owner, in: folder, after: key)
  }

  /// Removes the files, and those that an earlier sort of the same owner left.
  func remove(from folder: KeyRunFolder) throws(StoreError) {
    try folder.removeRuns(of: owner)
  }
}
