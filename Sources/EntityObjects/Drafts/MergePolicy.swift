/// The rule for records that both a draft and another writer have changed.
///
/// A draft remembers the values of a record at its first change. There is a conflict if at the save
/// the record has other values, or is gone, and does not already have the draft's values. The
/// properties that the draft has changed are those whose values differ from the remembered ones.
///
/// | policy | changed on both sides | changed here, deleted there | deleted here, changed there |
/// |---|---|---|---|
/// | `error` | the save throws `conflict` | the same | the same |
/// | `storeWins` | the draft's properties, but those changed there | stays deleted | stays |
/// | `draftWins` | the draft's properties over the others | comes back | is deleted |
/// | `overwrite` | the whole record as the draft has it | comes back | is deleted |
/// | `rollback` | as it is in the store | stays deleted | stays |
///
/// A link or a reference from the draft to a record that is gone at the save is left out by
/// `storeWins` and `rollback`, and refused by the others: a link as `conflict`, a reference as
/// `validation`. Unique values that another record has taken since are refused by all policies.
public enum MergePolicy: Hashable, Sendable, CaseIterable {
  /// The save fails and names every conflict; the draft stays unchanged.
  case error
  /// Merges property by property: changes of other writers stay, the draft's other changes are
  /// saved.
  case storeWins
  /// Merges property by property: the draft's changes are saved, other changes of other writers
  /// stay.
  case draftWins
  /// Saves the whole record with the draft's values, also where only other writers have changed it.
  case overwrite
  /// Discards the draft's changes of the record.
  case rollback
}
