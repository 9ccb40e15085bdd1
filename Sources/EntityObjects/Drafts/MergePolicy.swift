/// Who wins where a draft and another writer have changed the same record.
///
/// A draft remembers what a record held when the draft first changed it. There is a conflict if at
/// the save the record holds something else, or is gone, and is not already as the draft has it.
/// By property, the draft has changed those whose values differ from what it remembers.
///
/// | policy | changed on both sides | changed here, deleted there | deleted here, changed there |
/// |---|---|---|---|
/// | `error` | the save throws `conflict` | the same | the same |
/// | `storeWins` | the draft's properties, but those changed there | stays deleted | stays |
/// | `draftWins` | the draft's properties over the others | comes back | is deleted |
/// | `overwrite` | the whole record as the draft has it | comes back | is deleted |
/// | `rollback` | as it is in the store | stays deleted | stays |
///
/// A link or a reference that the draft has led to a record which is gone by then is left out by
/// `storeWins` and `rollback`, and refused by the others: a link as `conflict`, a reference as
/// `validation`. Unique values that somebody else has taken meanwhile are refused by all of them.
public enum MergePolicy: Hashable, Sendable, CaseIterable {
  /// The save fails and names every conflict; the draft stays as it is.
  case error
  /// By property: what others changed stays, what else the draft changed is saved.
  case storeWins
  /// By property: what the draft changed is saved, what else others changed stays.
  case draftWins
  /// The record becomes as the draft has it, also where only others have changed it.
  case overwrite
  /// What the draft did with the record is dropped.
  case rollback
}
