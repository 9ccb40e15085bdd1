/// The lines of one part of the table, measured together.
struct Section {
  let title: String
  /// Of what the figures are: how many rows, how many rounds.
  let scope: String
  /// Of the stores, as targets may be asked of one size.
  let rows: Int
  let measurements: [Measurement]
}

/// `1 round`, `3 rounds`, `1,000 jobs`.
func counted(_ number: Int, _ plural: String) -> String {
  "\(number.grouped) \(number == 1 ? String(plural.dropLast()) : plural)"
}
