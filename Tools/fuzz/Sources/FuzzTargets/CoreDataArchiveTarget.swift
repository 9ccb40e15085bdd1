import Foundation
import Mooring

@testable import LegacyImport

/// Reads the bytes as an archive of a value and as one of a model, both as they are and inflated.
/// Each gives a value or the reason why it has none. A value whose classes are all allowed is the
/// same each time.
@_cdecl("fuzz_core_data_archive")
public func fuzzCoreDataArchive(_ bytes: UnsafePointer<UInt8>?, _ count: Int) {
  // SAFETY: libFuzzer keeps the `count` bytes until this returns; they are copied.
  let input = Array(UnsafeBufferPointer(start: bytes, count: count))
  readArchives(input)
  do {
    readArchives(try RawDeflate.inflated(input, limit: 1 << 20))
  } catch {
    return
  }
}

private func readArchives(_ bytes: [UInt8]) {
  do { _ = try ModelArchive.model(in: bytes) } catch { checkLine(error.text) }
  let classNames: Set<String>
  do { classNames = try KeyedArchiveValue.classNames(in: bytes) } catch { return }
  func value() -> Result<Value, KeyedArchiveFailure> {
    do throws(KeyedArchiveFailure) {
      return .success(try KeyedArchiveValue.value(of: bytes, allowing: classNames))
    } catch {
      return .failure(error)
    }
  }
  let first = value()
  if case .failure(.classNotAllowed(let name)) = first {
    fatalError("\(name) is allowed, and it is refused")
  }
  switch (first, value()) {
  case (.success(let first), .success(let second)):
    // A NaN is not equal to itself.
    guard "\(first)" == "\(second)" else { fatalError("read twice, two values") }
  case (.failure(let first), .failure(let second)) where first == second: break
  default: fatalError("read twice, one value")
  }
}

private func checkLine(_ reason: String) {
  guard !reason.isEmpty else { fatalError("an error without a reason") }
}
