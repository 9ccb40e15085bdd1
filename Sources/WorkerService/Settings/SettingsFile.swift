import Foundation
import StrictYAML
import SystemSupport

/// Finds and reads the file of settings.
enum SettingsFile {
  /// A file of settings has about a kilobyte; a larger one is something else.
  private static let bytesMax = 64 * 1024
  private static let name = "worker.yaml"

  /// The file to read: the one that is named, which must exist, or else the first `worker.yaml`
  /// that exists in systemd's configuration folders or in `/etc/mooring`.
  ///
  /// - Parameter flag: The value of `--config`, nil if it was not given.
  /// - Parameter systemFolder: `/etc/mooring`, except in tests.
  /// - Returns: Nil if no file is named and none exists.
  static func path(
    flag: String?, environment: [String: String], systemFolder: String = "/etc/mooring"
  ) -> String? {
    if let named = flag ?? environment["MOORING_CONFIG"], !named.isEmpty { return named }
    let folders = (environment["CONFIGURATION_DIRECTORY"] ?? "").split(separator: ":")
    return (folders.map(String.init) + [systemFolder]).map { "\($0)/\(name)" }
      .first { FileManager.default.fileExists(atPath: $0) }
  }

  /// Reads a file strictly: each key must name a setting, and each value must be valid for it.
  ///
  /// - Throws: ``SettingsError`` if the file cannot be read; `YAMLError` at the first mistake.
  static func values(in path: String) throws -> SettingValues {
    var root = try YAMLDocument.parse(
      bytes: try bytes(of: path), file: path, bytesMax: bytesMax
    ).mapping()
    var values: SettingValues = [:]
    for setting in Setting.all {
      guard let node = root.optional(setting.name) else { continue }
      values[setting.name] = (try setting.text(of: node), .file(path: path, line: node.line))
    }
    try root.finish()
    return values
  }

  private static func bytes(of path: String) throws(SettingsError) -> [UInt8] {
    do throws(SystemError) {
      return try BoundedFile.read(path, bytesMax: bytesMax)
    } catch {
      throw SettingsError(
        code: .file,
        description: "the settings in \(path) cannot be read: \(error.text); "
          + "name an existing, readable file")
    }
  }
}
