import CMooringXXHash

/// The XXH3-128 hash of bytes that come in pieces, as `xxhsum -H2` prints it. It distinguishes
/// files and does not protect against forgery.
struct Fingerprint: ~Copyable {
  private let state: OpaquePointer

  init() throws(ImportError) {
    guard let state = mooring_xxh3_start() else {
      throw ImportError(.tooLarge, "there is no memory for a fingerprint")
    }
    self.state = state
  }

  func add(_ bytes: borrowing [UInt8]) {
    // SAFETY: the state lives as long as this value, the bytes as long as the call.
    bytes.withUnsafeBytes { mooring_xxh3_add(state, $0.baseAddress, $0.count) }
  }

  /// Returns 32 hexadecimal digits.
  consuming func finish() -> String {
    let hash = mooring_xxh3_finish(state)
    discard self
    return hash.high.hexadecimal + hash.low.hexadecimal
  }

  deinit { _ = mooring_xxh3_finish(state) }
}

extension UInt64 {
  /// 16 hexadecimal digits.
  var hexadecimal: String {
    let digits = String(self, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
