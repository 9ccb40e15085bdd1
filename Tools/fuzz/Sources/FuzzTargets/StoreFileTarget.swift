import Foundation
import LMDB
import Mooring

/// Checks a store whose data file was changed. Damage is in the report, whatever the bytes, and no
/// page is mapped before it is known to be sound. Of a store that is clean everything can be read
/// and written, and it stays clean.
///
/// LMDB itself trusts the pages of its file, and a program ends with 65 when it finds them damaged
/// (`FaultGuard`). That is not what this target looks for: it opens a store only if its pages are
/// sound, as the check does.
@_cdecl("fuzz_store_file")
public func fuzzStoreFile(_ bytes: UnsafePointer<UInt8>?, _ count: Int) {
  // SAFETY: libFuzzer keeps the `count` bytes until this returns; they are copied.
  let input = UnsafeBufferPointer(start: bytes, count: count)
  let file = changed(sample.bytes, by: Array(input))
  SampleStore.with(file) { folder in
    guard let report = unlessRefused({ try check(folder) }) else { return }
    guard report.problemCount == 0 else { return openAsFile(folder) }
    guard let store = SampleStore.open(folder) else {
      if report.isClean { fatalError("clean, and it cannot be opened") }
      return
    }
    let isReadable = SampleStore.isReadable(store)
    let isWritten = unlessRefused { try write(to: store) } != nil
    store.close()
    guard report.isClean else { return }
    guard isReadable, isWritten else { fatalError("clean, and it cannot be read or written") }
    guard unlessRefused({ try check(folder) })?.isClean == true else {
      fatalError("it was clean before it was written")
    }
  }
}

private let sample = SampleStore()

private func check(_ folder: String) throws -> StoreReport {
  try Store.check(at: folder, options: SampleStore.options)
}

/// Opens a file with damaged pages. What LMDB reads to do so was compared before.
private func openAsFile(_ folder: String) {
  let options = Environment.Options(mapSize: 16 << 20, access: .readOnly)
  do { _ = try Environment.open(at: folder, options: options) } catch { return }
}

private func write(to store: Store) throws {
  try store.writeBlocking { transaction in
    let shelf = try transaction.insert("Shelf", ["name": .string("new")])
    try transaction.insert(
      "Book", ["title": .string("new"), "shelf": .int64(shelf.number)])
  }
}

/// Applies the changes of an input to a file. Two bytes have the size, in units of 64 bytes, or
/// zero for the whole file. Then each change has one byte for the page, with the top bit set to
/// copy from another place instead of from the input; two for the place in it; one for the size;
/// and the bytes, or the page and the place to copy from.
private func changed(_ file: [UInt8], by input: [UInt8]) -> [UInt8] {
  let pageSize = 4_096
  var file = file
  var rest = input[...]
  func number(_ count: Int) -> Int {
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count).reduce(0) { $0 << 8 | Int($1) }
  }
  let size = number(2) * 64
  while rest.count > 4 {
    let kind = number(1)
    let start = kind % 128 % (file.count / pageSize) * pageSize + number(2) % pageSize
    let count = min(number(1), file.count - start)
    if kind < 128 {
      let bytes = rest.prefix(count)
      file.replaceSubrange(start..<(start + bytes.count), with: bytes)
      rest = rest.dropFirst(count)
    } else {
      let source = number(1) % (file.count / pageSize) * pageSize + number(2) % pageSize
      let bytes = Array(file[source...].prefix(count))
      file.replaceSubrange(start..<(start + bytes.count), with: bytes)
    }
  }
  return size == 0 ? file : Array(file.prefix(size))
}
