import Console
import FeedDocuments
import FeedSync
import Foundation

/// The file that `--mapping` names.
enum FeedMappingFileArgument {
  /// A built-in mapping of that name, else the file there.
  ///
  /// - Throws: `CommandError` for a file that cannot be read. What is in it is checked later.
  static func read(_ name: String) throws -> FeedMappingText {
    if let builtIn = FeedMappingText.builtIn(name) { return builtIn }
    let data: Data
    do {
      let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: name))
      defer { file.closeFile() }
      data = try file.read(upToCount: FeedMappingText.bytesMax + 1) ?? Data()
    } catch CocoaError.fileReadNoSuchFile, CocoaError.fileNoSuchFile {
      throw CommandError(
        .unavailable,
        "there is no mapping \"\(name)\"; name a file, or one of "
          + FeedMappingText.builtInNames.joined(separator: ", "))
    } catch {
      throw CommandError(.inputOutput, "the mapping \"\(name)\" cannot be read; is it a file?")
    }
    guard data.count <= FeedMappingText.bytesMax else {
      throw CommandError(.badData, "the mapping \"\(name)\" is longer than 256 KiB")
    }
    guard let text = String(data: data, encoding: .utf8) else {
      throw CommandError(.badData, "the mapping \"\(name)\" is not UTF-8")
    }
    return FeedMappingText(text, file: name)
  }
}
