import CMooringLMDB
import Glibc
import Synchronization

/// Makes damage that only shows as a page fault end a command-line tool with one line and exit
/// code 65 instead of a crash.
///
/// For tools only (`Environment.Options.guardsFaults` installs it at the earliest): signal handlers belong to the whole process, and a library that is embedded
/// leaves them to the program. The check at open finds cut files; this is for pages that are
/// overwritten, and for a file that another program cuts while it is open.
public enum FaultGuard {
  private static let isInstalled = Guarded(false)

  /// Handles SIGBUS and SIGSEGV from inside the map of this environment until it is closed. Other
  /// faults go to the handler that was there before.
  ///
  /// - Throws: `LMDBError` with `.other` if the system refuses the handler, or the map is not
  ///   found, or sixteen environments are guarded already.
  public static func install(for environment: Environment) throws(LMDBError) {
    let range = try mapRange(of: environment)
    try isInstalled.withLock { (isInstalled: inout Bool) throws(LMDBError) in
      if !isInstalled {
        guard mooring_fault_install() == 0 else {
          throw LMDBError.system(errno, "the fault handler cannot be installed", context: [])
        }
        isInstalled = true
      }
      guard environment.faultGuardPlace.load(ordering: .relaxed) < 0 else { return }
      let place = mooring_fault_add(range.lowerBound, range.upperBound)
      guard place >= 0 else { throw notGuarded(environment, "too many environments") }
      environment.faultGuardPlace.store(place, ordering: .relaxed)
    }
  }

  static func remove(_ environment: Environment) {
    let place = environment.faultGuardPlace.load(ordering: .relaxed)
    if place >= 0 { isInstalled.withLock { _ in mooring_fault_remove(place) } }
  }

  /// The addresses of the map. LMDB does not tell them, the kernel does, by device and inode.
  private static func mapRange(of environment: Environment) throws(LMDBError) -> Range<UInt> {
    var status = stat()
    guard stat(StoreFiles.dataFile(environment.folder), &status) == 0 else {
      throw notGuarded(environment, LMDBError.text(of: errno))
    }
    guard let file = fopen("/proc/self/maps", "re") else {
      throw notGuarded(environment, LMDBError.text(of: errno))
    }
    defer { fclose(file) }
    var line: UnsafeMutablePointer<CChar>?
    var capacity = 0
    defer { free(line) }
    while getline(&line, &capacity, file) > 0, let text = line {
      // start-end mode offset major:minor inode path
      let fields = String(cString: text).split(separator: " ", omittingEmptySubsequences: true)
      guard fields.count >= 6, UInt(fields[4]) == UInt(status.st_ino),
        fields[5].hasSuffix("/data.mdb\n")
      else { continue }
      let bounds = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
      if bounds.count == 2, bounds[0] < bounds[1] { return bounds[0]..<bounds[1] }
    }
    throw notGuarded(environment, "its map is not among those of the process")
  }

  private static func notGuarded(_ environment: Environment, _ cause: String) -> LMDBError {
    LMDBError(
      .other, "faults in the map of the store cannot be caught",
      context: [("path", environment.folder), ("cause", cause)],
      advice: "go on without; damage may then end the process by a signal")
  }
}
