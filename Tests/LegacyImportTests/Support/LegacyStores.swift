import Foundation

/// Files that other programs wrote, and damaged ones. They are outside the package.
enum LegacyStores {
  static let isHere = folder != nil
  static let skipped: String = "needs ../shared/legacy-stores beside the package"

  /// `stores`, `synthetic` or `variants`, and what is in them.
  static func path(_ name: String) -> String {
    (folder ?? URL(filePath: "/nonexistent")).appending(path: name).path
  }

  /// The files below a folder, in the order of their paths.
  static func files(below name: String) -> [String] {
    let root = path(name)
    let found = FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []
    return found.sorted().map { root + "/" + $0 }.filter { path in
      var isFolder: ObjCBool = false
      return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
        && !isFolder.boolValue
    }
  }

  private static var folder: URL? {
    var package = URL(filePath: #filePath)
    for _ in 0..<4 { package.deleteLastPathComponent() }
    let shared =
      ProcessInfo.processInfo.environment["MOORING_SHARED"].map { URL(filePath: $0) }
      ?? package.deletingLastPathComponent().appending(path: "shared")
    let folder = shared.appending(path: "legacy-stores")
    return FileManager.default.fileExists(atPath: folder.path) ? folder : nil
  }
}
