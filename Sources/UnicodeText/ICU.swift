import CMooringICU

/// The library that this module uses.
package enum ICU {
  /// Its major release and the version of Unicode that it implements: `icu 72, unicode 15.0`. What
  /// folding yields depends on nothing else; minor releases correct programs and no data.
  package static let version: String = {
    "icu \(libraryVersion.prefix { $0 != "." }), unicode \(versions.unicode)"
  }()

  /// The version of the library: `72.1`.
  package static var libraryVersion: String { versions.release }

  private static let versions: (release: String, unicode: String) = {
    var release = VersionText()
    var unicode = VersionText()
    release.withBytes { release in
      unicode.withBytes { unicode in mooring_icu_versions(release, unicode) }
    }
    return (release.text, unicode.text)
  }()
}

/// Room for a version that ICU writes.
struct VersionText {
  private var bytes = [CChar](repeating: 0, count: 20)

  var text: String {
    String(decoding: bytes.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  mutating func withBytes(_ body: (UnsafeMutablePointer<CChar>) -> Void) {
    bytes.withUnsafeMutableBufferPointer { buffer in
      if let base = buffer.baseAddress { body(base) }
    }
  }
}
