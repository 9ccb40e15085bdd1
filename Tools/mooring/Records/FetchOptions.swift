import ArgumentParser
import Console

/// The options of `mooring fetch`.
struct FetchOptions: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Which records. @FILE reads the predicate from a file, - from standard input.",
      valueName: "predicate"))
  var `where`: String?
  @Option(
    help: ArgumentHelp(
      "path[:asc|desc][:binary|caseInsensitive|localized|localized(zh)], separated by commas. "
        + "Without: by number in the store; groups by their keys.", valueName: "keys"),
    completion: .sortKeys)
  var sort: String?
  @Option(parsing: .unconditional, help: "At most so many rows.") var limit: Int?
  @Option(parsing: .unconditional, help: "The number of rows to skip.") var offset = 0
  @Option(
    help: ArgumentHelp(
      "Columns: title,path.title,minutes=duration/60; _id is the number in the store.",
      valueName: "columns"), completion: .attributes)
  var select: String?
  @Flag(help: "Omit rows that equal an earlier one; with --select.") var distinct = false
  @Flag(help: "Print the number of rows only.") var count = false
  @Flag(help: "Print Entity/number of each record only; as JSON its URL as well.") var ids = false
  @Option(
    help: ArgumentHelp(
      "[name=]function:path, separated by commas: total=sum:duration,n=count:*. The functions are "
        + "sum, average, min, max, count and countDistinct.", valueName: "figures"),
    completion: .aggregates)
  var aggregate: String?
  @Option(
    help: ArgumentHelp("One row for each combination of these.", valueName: "paths"),
    completion: .attributes)
  var groupBy: String?
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Which groups: 'n > 1', 'sum(duration) > 60'.", valueName: "predicate"))
  var having: String?
  @Option(
    help: ArgumentHelp(
      "A request that a migration has stored; other options narrow or replace its parts.",
      valueName: "name"), completion: .template)
  var template: String?
  @Option(
    help: ArgumentHelp(
      "The value of $NAME in a predicate: 5, \"text\", nil, DATE \"…\"; any other word is a text. "
        + "May be repeated.", valueName: "name=value"))
  var variable: [String] = []
  @Flag(help: "Print how the answer is found and what that reads, instead of the answer.")
  var explain = false
  @Flag(help: "Fail rather than read every record or sort in memory.") var requireIndex = false

  func validate() throws {
    if let limit, limit < 0 { throw ValidationError("--limit cannot be negative") }
    if offset < 0 { throw ValidationError("--offset cannot be negative") }
    if `where` == "-", having == "-" {
      throw ValidationError("standard input can be read only once; put one predicate into a file")
    }
    for conflict in conflicts where conflict.holds { throw ValidationError(conflict.advice) }
  }

  private var conflicts: [(holds: Bool, advice: String)] {
    let groups = groupBy != nil
    let rows = select != nil || aggregate != nil || groups
    return [
      (count && ids, "--count and --ids print different things; leave one out"),
      (ids && (rows || distinct), "--ids prints identities and no columns; use --select _id,…"),
      (
        having != nil && !groups && template == nil,
        "--having chooses groups, and needs --group-by; for records use --where"
      ),
      (
        count && select != nil && !distinct && !groups,
        "--count reads no columns; leave out --select, or add --distinct"
      ),
      (
        count && aggregate != nil && !groups,
        "an aggregate without --group-by has one row; leave out --count, or write "
          + "--aggregate count:*"
      ),
      (
        distinct && select == nil && !groups && template == nil,
        "records are always distinct; use --distinct with --select"
      ),
      (
        distinct && (groups || aggregate != nil),
        "groups are distinct already; leave out --distinct"
      ),
    ]
  }
}
