/// What RFC 5005 says of the document's place among others, and RFC 6721 of what is gone.
struct FeedHistory {
  struct Deletion {
    var id: String
    var when: String?
  }

  var isComplete = false
  var isArchive = false
  var deletions: [Deletion] = []

  /// Forgets what items would be deleted for.
  mutating func distrust() {
    isComplete = false
    deletions = []
  }
}
