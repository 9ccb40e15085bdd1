public import ArgumentParser
import Console
public import DurableJobs
import Foundation
import WorkerService

extension JobID: ExpressibleByArgument {
  public init?(argument: String) {
    guard let number = Int64(argument), number > 0 else { return nil }
    self.init(rawValue: number)
  }
}

/// Times as the verbs of jobs read them.
enum JobArguments {
  /// - Throws: `ValidationError`, which names the states.
  static func state(_ text: String) throws -> JobState {
    guard let state = JobState(rawValue: text) else {
      let known = JobState.allCases.map(\.rawValue).joined(separator: ", ")
      throw ValidationError("the states are \(known)")
    }
    return state
  }

  /// - Throws: `ValidationError`, which names the option.
  static func duration(_ text: String, _ option: String) throws -> Duration {
    guard let duration = TimeText.duration(text) else {
      throw ValidationError("\(option): \"\(text)\" is no time; write 90s, 15m, 2h or 1d")
    }
    return duration
  }

  /// - Throws: `ValidationError`, which names the option.
  static func date(_ text: String, _ option: String) throws -> Date {
    do {
      return try Date(text, strategy: .iso8601)
    } catch {
      throw ValidationError("\(option): \"\(text)\" is no time; write 2026-01-31T06:30:00Z")
    }
  }
}

/// The payload of a job: the JSON itself, `@FILE`, or `-` for standard input.
struct PayloadText {
  /// The largest payload of a job.
  private static let bytesMax = 1 << 20

  let data: Data

  /// - Throws: `CommandError` for a file that cannot be read or is too long, and for what is no
  ///   JSON.
  init(_ argument: String) throws {
    if argument == "-" {
      data = try Self.read(FileHandle.standardInput, "standard input")
    } else if argument.hasPrefix("@") {
      let path = String(argument.dropFirst())
      guard let file = FileHandle(forReadingAtPath: path) else {
        throw CommandError(.unavailable, "--payload: the file \"\(path)\" cannot be read")
      }
      data = try Self.read(file, "the file \"\(path)\"")
    } else {
      data = Data(argument.utf8)
      guard Self.isJSON(data) else {
        throw CommandError(
          .usage, "--payload: \"\(argument)\" is no JSON; write '{\"name\":\"value\"}'")
      }
    }
  }

  private static func read(_ file: FileHandle, _ name: String) throws -> Data {
    let data = try file.read(upToCount: bytesMax + 1) ?? Data()
    guard data.count <= bytesMax else {
      throw CommandError(.badData, "--payload: \(name) is longer than a payload may be, 1 MiB")
    }
    guard isJSON(data) else { throw CommandError(.badData, "--payload: \(name) holds no JSON") }
    return data
  }

  private static func isJSON(_ data: Data) -> Bool {
    do {
      _ = try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
      return true
    } catch {
      return false
    }
  }
}
