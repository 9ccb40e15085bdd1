import CMooringLMDB
import Glibc
import Synchronization
public import SystemSupport

/// Ends a command-line tool with one line and exit code 65, instead of a crash, when damage of a
/// store shows only as a page fault.
///
/// For tools only: signal handlers belong to the whole process, and a library leaves them to the
/// program. `Environment.Options.guardsFaults` installs it before any page is read. The check at
/// open finds cut files; this is for pages that are overwritten, and for a file that another
/// program cuts while it is open. A write that faults has not been committed, unless the fault came
/// after the commit.
public enum FaultGuard {
  private static let isInstalled = Locked(false)

  /// Handles SIGBUS and SIGSEGV for addresses in the map of this environment until it is closed,
  /// those that the code of LMDB raises, and all of them, with SIGABRT, from the first write to a
  /// guarded environment on. Others are passed to the previous handler.
  ///
  /// - Throws: `StorageError` with `.other` if the system refuses the handler, the map is not
  ///   found, or sixteen environments are guarded already.
  public static func install(for environment: Environment) throws(StorageError) {
    let mappings = try mappings(of: environment)
    let range = try mapRange(of: environment, mappings)
    try isInstalled.withLock { (isInstalled: inout Bool) throws(StorageError) in
      if !isInstalled {
        guard mooring_fault_install() == 0 else {
          throw StorageError.system(errno, "the fault handler cannot be installed", context: [])
        }
        // LMDB linked into the program has no mapping of its own; then only its map is guarded.
        if let code = mappings.first(where: { $0.isCode && $0.path.contains("/liblmdb") }) {
          mooring_fault_set_code(code.range.lowerBound, code.range.upperBound)
        }
        isInstalled = true
      }
      guard environment.faultGuardPlace.load(ordering: .relaxed) < 0 else { return }
      let place = mooring_fault_add(range.lowerBound, range.upperBound)
      guard place >= 0 else { throw notGuarded(environment, "too many environments") }
      environment.faultGuardPlace.store(place, ordering: .relaxed)
    }
  }

  /// Takes the faults that follow for those of a damaged page, if the environment is guarded: a
  /// write changes copies of pages in the heap, so that neither the address nor the instruction nor
  /// the thread of a fault shows the cause.
  @inline(__always)
  static func noteWrite(to environment: Environment) {
    if environment.faultGuardPlace.load(ordering: .relaxed) >= 0 { mooring_fault_note_write() }
  }

  static func remove(_ environment: Environment) {
    let place = environment.faultGuardPlace.load(ordering: .relaxed)
    if place >= 0 { isInstalled.withLock { _ in mooring_fault_remove(place) } }
  }

  /// The addresses of the map. LMDB does not report them; the kernel does, by inode.
  ///
  /// - Throws: `.other` if the map is not found.
  static func mapRange(of environment: Environment) throws(StorageError) -> Range<UInt> {
    try mapRange(of: environment, mappings(of: environment))
  }

  private static func mapRange(
    of environment: Environment, _ mappings: [Mapping]
  ) throws(StorageError) -> Range<UInt> {
    var status = stat()
    guard stat(StoreFiles.dataFile(environment.folder), &status) == 0 else {
      throw notGuarded(environment, StorageError.text(of: errno))
    }
    let inode = UInt(status.st_ino)
    let found = mappings.first { $0.inode == inode && $0.path.hasSuffix("/data.mdb") }
    guard let found else {
      throw notGuarded(environment, "its map is not among those of the process")
    }
    return found.range
  }

  /// One line of /proc/self/maps: `start-end mode offset major:minor inode path`.
  private struct Mapping {
    let range: Range<UInt>
    let isCode: Bool
    let inode: UInt
    let path: Substring

    init?(_ line: Substring) {
      let fields = line.split(separator: " ", maxSplits: 5)
      guard fields.count == 6, let inode = UInt(fields[4]) else { return nil }
      let bounds = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
      guard bounds.count == 2, bounds[0] < bounds[1] else { return nil }
      range = bounds[0]..<bounds[1]
      isCode = fields[1].contains("x")
      self.inode = inode
      path = fields[5].drop { $0 == " " }
    }
  }

  private static func mappings(of environment: Environment) throws(StorageError) -> [Mapping] {
    guard let file = fopen("/proc/self/maps", "re") else {
      throw notGuarded(environment, StorageError.text(of: errno))
    }
    defer { fclose(file) }
    var line: UnsafeMutablePointer<CChar>?
    var capacity = 0
    defer { free(line) }
    var mappings: [Mapping] = []
    while getline(&line, &capacity, file) > 0, let text = line {
      if let mapping = Mapping(String(cString: text).dropLast()) { mappings.append(mapping) }
    }
    return mappings
  }

  private static func notGuarded(_ environment: Environment, _ cause: String) -> StorageError {
    StorageError(
      .other, "faults in the map of the store cannot be caught",
      context: [("path", environment.folder), ("cause", cause)],
      advice: "continue without it; damage may then end the process by a signal")
  }
}
