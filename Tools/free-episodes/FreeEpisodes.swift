import Dispatch
import Foundation
import Mooring

/// Prints the changes of the free episodes of all writers, by type and newest first.
@main
struct FreeEpisodes {
  static func main() async {
    let watching = Task { try await watch(CommandLine.arguments.dropFirst().first ?? ".") }
    let interruptions = [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .main)
      source.setEventHandler { watching.cancel() }
      source.activate()
      return source
    }
    do {
      try await watching.value
    } catch is CancellationError {
      interruptions.forEach { $0.cancel() }
    } catch {
      FileHandle.standardError.write(Data("free-episodes: \(error)\n".utf8))
      exit(1)
    }
  }

  static func watch(_ folder: String) async throws {
    let store = try Store.open(at: folder, requiring: [Episode.self])
    let (free, preview) = (EpisodeType.free, EpisodeType.preview)
    let episodes = try FetchDescriptor(
      predicate: #Predicate<Episode> { $0.type == free || $0.type == preview },
      sortBy: [SortBy(\.type), SortBy(\.updatedAt, order: .reverse)], fetchLimit: 50)
    for try await update in try store.results(of: episodes, sectionBy: \.type) {
      if update.origin == .first { print("watching \(update.snapshot.count) episodes") }
      for case .delete(_, let type) in update.changes.sections { print("- section", name(type)) }
      for case .insert(_, let type) in update.changes.sections { print("+ section", name(type)) }
      for change in update.changes.rows {
        switch change {
        case .delete(let place, _): show("-", [place])
        case .insert(let place, let row): show("+", [place], row.value)
        case .move(let old, let new, let row): show(">", [old, new], row.value)
        case .update(_, let place, let row): show("~", [place], row.value)
        }
      }
      fflush(nil)
    }
  }

  static func name(_ type: Value) -> String { type == EpisodeType.free.value ? "free" : "preview" }

  static func show(_ mark: String, _ places: [ResultsIndex], _ episode: Episode? = nil) {
    let place = places.map { "[\($0.section),\($0.item)]" }.joined(separator: " -> ")
    guard let episode else { return print(mark, place) }
    // A title comes from the network: what could steer a terminal is left out.
    let title = (episode.title ?? episode.id).unicodeScalars
      .filter { $0.properties.generalCategory != .control }
    print(mark, place.padding(toLength: 16, withPad: " ", startingAt: 0), String(title))
  }
}
