import HomeFeed
import Testing

@Suite struct KeyPathTests {
  private let episodes: [Episode] = [("b", 0.5), ("a", 0), ("c", 1)].map { id, progress in
    var episode = Episode(id: id)
    episode.progress = progress
    return episode
  }

  @Test func sortedGoesByAKeyPath() {
    #expect(episodes.sorted(by: \.id).map(\.id) == ["a", "b", "c"])
    #expect(episodes.sorted(by: \.progress, criteria: >).map(\.id) == ["c", "b", "a"])
  }

  @Test func sortGoesByAKeyPathInPlace() {
    var sorted = episodes
    sorted.sort(by: \.progress)
    #expect(sorted.map(\.id) == ["a", "b", "c"])
    sorted.sort(by: \.id, criteria: >)
    #expect(sorted.map(\.id) == ["c", "b", "a"])
  }

  @Test func mapAndFilterGoByAKeyPath() {
    #expect(episodes.map(by: \.id) == ["b", "a", "c"])
    #expect(episodes.filter(by: \.progress) { $0 > 0 }.map(by: \.id) == ["b", "c"])
    #expect(["", "x"].filter(by: \.isEmpty) == [""])
  }
}
