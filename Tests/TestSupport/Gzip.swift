public import Foundation

/// Returns the gzip stream of the file that `write` fills, made by the gzip command.
public func gzip(_ write: (FileHandle) throws -> Void) throws -> [UInt8] {
  let folder = FileManager.default.temporaryDirectory.appending(path: "gzip-\(UUID())")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }  // a leftover harms no test
  let file = folder.appending(path: "plain")
  _ = FileManager.default.createFile(atPath: file.path, contents: nil)
  let handle = try FileHandle(forWritingTo: file)
  try write(handle)
  try handle.close()
  let process = SpawnedProcess()
  process.executableURL = URL(filePath: "/usr/bin/gzip")
  process.arguments = ["-1", "-n", file.path]
  try process.run()
  process.waitUntilExit()
  return [UInt8](try Data(contentsOf: file.appendingPathExtension("gz")))
}

/// Returns the gzip stream of the text.
public func gzip(_ text: String) throws -> [UInt8] {
  try gzip { try $0.write(contentsOf: Data(text.utf8)) }
}
