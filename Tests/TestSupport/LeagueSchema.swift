public import EntityModel
public import EntityStore
public import Migrations

extension MigrationSource {
  /// Teams and their players: what live results are tested on.
  public static let league = MigrationSource(embedded: [("0001_league", Array(League.text.utf8))])
}

/// Random changes of a league, the same for the same seed in whatever process.
public enum League {
  static let text = """
    line: league
    summary: Teams and players
    steps:
      - createEntity:
          name: Team
          attributes:
            - { name: name, type: string }
            - { name: zone, type: string, optional: true }
            - { name: wins, type: int64, default: 0 }
            - { name: rating, type: double, optional: true }
            - { name: motto, type: string, optional: true }
      - createEntity:
          name: Player
          attributes:
            - { name: name, type: string }
            - { name: goals, type: int64, default: 0 }
      - createEntity:
          name: Referee
          history: false
          attributes:
            - { name: name, type: string }
            - { name: age, type: int64, default: 0 }
      - createRelationship: { on: Player, name: team, to: Team, inverse: { name: players, many: true } }
      - createRelationship: { on: Team, name: rivals, to: Team, many: true, inverse: { name: rivals } }
      - createIndex: { on: Team, name: byZone, keys: [zone, wins desc, name] }
      - createIndex: { on: Team, name: byWins, keys: [wins] }
    """

  public static let zones = ["africa", "asia", "europe", "oceania"]

  /// One commit's worth of changes.
  public static func change(
    _ transaction: WriteTransaction, using random: inout SeededRandom
  ) throws {
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      try changeOnce(transaction, using: &random)
    }
  }

  private static func changeOnce(
    _ transaction: WriteTransaction, using random: inout SeededRandom
  ) throws {
    let teams = try ids("Team", transaction)
    let players = try ids("Player", transaction)
    let referees = try ids("Referee", transaction)
    switch Int.random(in: 0..<24, using: &random) {
    case 0..<4 where teams.count < 60, _ where teams.count < 6:
      try transaction.insert("Team", team(using: &random))
    case 4..<6 where teams.count > 12:
      try transaction.delete(teams[Int.random(in: teams.indices, using: &random)])
    case 6..<8:
      try transaction.insert("Player", player(of: teams, using: &random))
    case 8 where !players.isEmpty:
      try transaction.delete(players[Int.random(in: players.indices, using: &random)])
    case 9..<12 where !players.isEmpty:
      let values = player(of: teams, using: &random)
      try transaction.update(players[Int.random(in: players.indices, using: &random)]) { record in
        for (name, value) in values where name != "name" { try record.set(name, to: value) }
      }
    case 12:
      try transaction.insert("Referee", ["name": .string("r\(referees.count)")])
    case 13 where !referees.isEmpty:
      let age = Value.int64(Int64.random(in: 0...3, using: &random))
      try transaction.update(referees[Int.random(in: referees.indices, using: &random)]) {
        try $0.set("age", to: age)
      }
    case 14:
      let pair = (0..<2).map { _ in teams[Int.random(in: teams.indices, using: &random)] }
      if pair[0] != pair[1] { try transaction.addRelated([pair[0]], to: pair[1], "rivals") }
    default:
      let values = team(using: &random)
      let names = values.keys.sorted().filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
      try transaction.update(teams[Int.random(in: teams.indices, using: &random)]) { record in
        for name in names { try record.set(name, to: values[name] ?? .null) }
      }
    }
  }

  private static func ids(_ entity: String, _ transaction: ReadTransaction) throws -> [ObjectID] {
    try transaction.fetchIdentifiers(FetchRequest(entityName: entity))
  }

  private static func team(using random: inout SeededRandom) -> [String: Value] {
    [
      "name": .string("t\(Int.random(in: 0..<20, using: &random))"),
      "zone": Int.random(in: 0..<6, using: &random) == 0
        ? .null : .string(zones[Int.random(in: zones.indices, using: &random)]),
      "wins": .int64(Int64.random(in: 0..<8, using: &random)),
      "rating": Int.random(in: 0..<4, using: &random) == 0
        ? .null : .double(Double(Int.random(in: -2...2, using: &random)) / 2),
      "motto": .string("m\(Int.random(in: 0..<1_000, using: &random))"),
    ]
  }

  private static func player(
    of teams: [ObjectID], using random: inout SeededRandom
  ) -> [String: Value] {
    [
      "name": .string("p\(Int.random(in: 0..<9, using: &random))"),
      "goals": .int64(Int64.random(in: 0..<5, using: &random)),
      "team": Int.random(in: 0..<5, using: &random) == 0
        ? .null : .int64(teams[Int.random(in: teams.indices, using: &random)].number),
    ]
  }

  /// A random request, and what divides its results.
  public static func request(
    using random: inout SeededRandom
  ) throws -> (FetchRequest, sectionBy: String?) {
    let isOfTeams = Int.random(in: 0..<4, using: &random) > 0
    var request = FetchRequest(entityName: isOfTeams ? "Team" : "Player")
    let predicates =
      isOfTeams
      ? [
        nil, "wins > 2", "zone == 'europe' OR zone == nil", "rating != nil AND wins != 3",
        "zone IN {'asia', 'africa'} AND wins >= 1", "name BEGINSWITH 't1'",
        "ANY players.goals > 3", "players.@count > 0", "ALL rivals.wins < 6",
        "NOT (rating < 0)", "motto ENDSWITH '7' OR wins == 1", "rivals.@count == 0",
      ]
      : [
        nil, "goals > 1", "team.zone == 'europe'", "team == nil", "team.wins > 3 AND goals < 4",
        "ANY team.rivals.wins > 4",
      ]
    if let text = predicates[Int.random(in: predicates.indices, using: &random)] {
      request.predicate = try FetchPredicate(format: text)
    }
    let paths =
      isOfTeams ? ["zone", "wins", "rating", "name"] : ["goals", "name", "team.name", "team.zone"]
    for path in paths.shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random)) {
      request.sortBy.append(SortKey(path, descending: Bool.random(using: &random)))
    }
    if Int.random(in: 0..<2, using: &random) == 0 {
      request.fetchLimit = Int.random(in: 1...30, using: &random)
    }
    if Int.random(in: 0..<3, using: &random) == 0 {
      request.fetchOffset = Int.random(in: 0...12, using: &random)
    }
    let sectionBy = Int.random(in: 0..<2, using: &random) == 0 ? request.sortBy.first?.path : nil
    return (request, sectionBy)
  }
}
