/// Reading trees page by page.
enum PageWalk {
  static func endIsFree(
    of source: PageSource, meta: MetaPage, pagesInFile: Int
  ) throws(LMDBError) -> Bool {
    false
  }
}
