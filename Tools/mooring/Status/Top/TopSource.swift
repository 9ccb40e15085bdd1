import Console
import EntityStore
import Glibc
import StatusModel

/// Where `mooring top` reads the status from: the store, opened again when its file was replaced.
struct TopSource: ~Copyable {
  private let options: StoreOptions
  private var opened: (reader: StatusReader, file: ino_t?)?

  init(_ options: StoreOptions) { self.options = options }

  /// Returns the status now.
  ///
  /// - Throws: `StoreError`. After one of the status `tryAgain` the next call may succeed.
  mutating func read() throws -> StoreStatus {
    let file = fileNumber
    // A store must not be open twice; a copy of this value would keep it open.
    if let opened, opened.file != file { self.opened = nil }
    if let opened { return try opened.reader.read() }
    let reader = try StatusReader(ofWorkerOn: try options.openToRead(options.allSources))
    opened = (reader, file)
    return try reader.read()
  }

  /// The number that the file system has given to the data file; nil without one.
  private var fileNumber: ino_t? {
    var file = stat()
    // SAFETY: the call fills exactly one `stat`, which outlives it.
    return stat(options.folder + "/data.mdb", &file) == 0 ? file.st_ino : nil
  }
}
