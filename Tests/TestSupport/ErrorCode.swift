package import EntityStore

/// The code of the store's error that the closure throws; `nil` if it throws none.
package func code<R>(_ body: () throws -> R) -> StoreError.Code? {
  do {
    _ = try body()
    return nil
  } catch {
    return (error as? StoreError)?.code
  }
}

package func code<R>(
  isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> R
) async -> StoreError.Code? {
  do {
    _ = try await body()
    return nil
  } catch {
    return (error as? StoreError)?.code
  }
}
