import EntityStore

/// The sorted runs of one owner: what a resumed merge must know of them, for the caller to keep.
///
/// The files are scratch, and may be gone or damaged when they are wanted: then the caller sorts
/// again.
struct KeyRuns: Codable, Equatable, Sendable {
  /// Runs that are merged at a time: 4 MiB of blocks, and few descriptors.
  static let runsMax = 64

  let owner: String
  let runs: [KeyRun]

  /// The sum over the runs; a key that is in several counts for each.
  var keys: Int { runs.reduce(0) { $0 + $1.keys } }

  /// Whether every run is there and is what was written.
  ///
  /// - Throws: `storage` if the system refuses to let that be seen.
  /// - Complexity: reads all files.
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

  /// The keys strictly after `key`, or all of them, in ascending order.
  ///
  /// - Throws: `damaged` if a run is lost or is not what was written, here or when it is read;
  ///   `storage` if the system refuses.
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
