import Foundation
import StrictYAML

/// Where the file of settings is, and what it says.
enum SettingsFile {
  /// A file of settings has a kilobyte; the bound stops what is no such file.
  private static let bytesMax = 64 * 1024
  private static let name = "worker.yaml"

  /// The file to read: the one that is named, which must be there, or else the first that is there
  /// of `worker.yaml` in systemd's folders of configuration and in `/etc/mooring`.
  ///
  /// - Parameter flag: The value of `--config`, nil if it was not given.
  /// - Parameter systemFolder: `/etc/mooring`, but in tests.
  /// - Returns: Nil if no file is named and none is there.
  static func path(
    flag: String?, environment: [String: String], systemFolder: String = "/etc/mooring"
  ) -> String? {
    if let named = flag ?? environment["MOORING_CONFIG"], !named.isEmpty { return named }
    let folders = (environment["CONFIGURATION_DIRECTORY"] ?? "").split(separator: ":")
    return (folders.map(String.init) + [systemFolder]).map { "\($0)/\(name)" }
      .first { FileManager.default.fileExists(atPath: $0) }
  }

  /// Reads a file strictly: each key must be a setting's, and each value one of it.
  ///
  /// - Throws: ``SettingsError`` if it cannot be read; `YAMLError` at the first place that is
  ///   wrong.
  static func layer(_ path: String) throws -> SettingsLayer {
    var root = try YAMLDocument.parse(
      bytes: try bytes(of: path), file: path, bytesMax: bytesMax
    ).mapping()
    var values: [String: String] = [:]
    var sources: [String: SettingSource] = [:]
    for setting in Setting.all {
      guard let node = root.optional(setting.name) else { continue }
      values[setting.name] = try setting.text(of: node)
      sources[setting.name] = .file(path: path, line: node.line)
    }
    try root.finish()
    return SettingsLayer(name: "file", values: values, sources: sources)
  }

  private static func bytes(of path: String) throws(SettingsError) -> [UInt8] {
    do {
      let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
      defer { file.closeFile() }
      // One byte more than is allowed shows that there is more.
      return Array(try file.read(upToCount: bytesMax + 1) ?? Data())
    } catch {
      throw SettingsError(
        code: .file,
        description: "the settings in \(path) cannot be read: \(reason(error)); "
          + "name a file that is there and can be read")
    }
  }

  private static func reason(_ error: any Error) -> String {
    let underlying = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
    guard let code = underlying?.code, underlying?.domain == NSPOSIXErrorDomain else {
      return error.localizedDescription
    }
    // SAFETY: strerror returns a NUL-terminated string, which is copied at once.
    return String(cString: strerror(Int32(code)))
  }
}
