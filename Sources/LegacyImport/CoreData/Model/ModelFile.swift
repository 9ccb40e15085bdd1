import Foundation

/// Finds and reads the model that Xcode edits: an `.xcdatamodel` folder, the file `contents` in it,
/// or an `.xcdatamodeld` folder with several versions, of which the current one is read.
package enum ModelFile {
  private static let bytesMax = 16 << 20
  private static let currentVersionKey = "_XCCurrentVersionName"

  /// - Throws: ``ImportError``: `missing`, `unreadable`, `tooLarge`; `damaged` if it is no model.
  package static func model(at path: String) throws -> ManagedObjectModel {
    let file = try contents(of: path)
    do throws(ArchiveDamage) {
      return try ModelXML.model(in: file.bytes)
    } catch {
      throw ImportError(
        .damaged, "this is no model of Xcode", [("file", file.path), ("problem", error.text)],
        advice: "give the .xcdatamodel of the program's source, not the compiled .mom")
    }
  }

  private static func contents(of path: String) throws -> (path: String, bytes: [UInt8]) {
    var path = try existing(path)
    if isFolder(path), !FileManager.default.fileExists(atPath: path + "/contents") {
      path = try existing(currentVersion(in: path))
    }
    if isFolder(path) { path = try existing(path + "/contents") }
    return (path, try bytes(of: path))
  }

  /// Returns the version that `.xccurrentversion` names, or the only one.
  private static func currentVersion(in folder: String) throws -> String {
    let setting = folder + "/.xccurrentversion"
    if FileManager.default.fileExists(atPath: setting) {
      let list = try? PropertyListSerialization.propertyList(
        from: Data(try bytes(of: setting)), format: nil)
      // The name of an entry of this folder, and no path.
      if let name = (list as? [String: Any])?[currentVersionKey] as? String, !name.contains("/") {
        return folder + "/" + name
      }
      throw ImportError(
        .damaged, "the current version of the model cannot be read", [("file", setting)],
        advice: "name one of the .xcdatamodel folders in it")
    }
    let versions = try FileManager.default.contentsOfDirectory(atPath: folder)
      .filter { $0.hasSuffix(".xcdatamodel") }.sorted()
    guard versions.count == 1 else {
      throw ImportError(
        .missing, "the folder does not say which model is meant",
        [("folder", folder), ("models", versions.shortList)],
        advice: "name an .xcdatamodel folder")
    }
    return folder + "/" + versions[0]
  }

  // MARK: Files

  private static func existing(_ path: String) throws -> String {
    let resolved = URL(filePath: path).resolvingSymlinksInPath().path
    guard FileManager.default.fileExists(atPath: resolved) else {
      throw ImportError(
        .missing, "there is no such model", [("file", path)],
        advice: "name an .xcdatamodel or .xcdatamodeld folder")
    }
    return resolved
  }

  private static func isFolder(_ path: String) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
      && isFolder.boolValue
  }

  private static func bytes(of path: String) throws -> [UInt8] {
    do {
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      guard attributes[.type] as? FileAttributeType == .typeRegular else {
        throw ImportError(.unreadable, "the model is no regular file", [("file", path)])
      }
      guard let size = attributes[.size] as? Int, size <= bytesMax else {
        throw ImportError(.tooLarge, "the model is too large", [("file", path)])
      }
      return Array(try Data(contentsOf: URL(filePath: path)))
    } catch let error as ImportError {
      throw error
    } catch {
      throw ImportError(.unreadable, "the model cannot be read", [("file", path)])
    }
  }
}
