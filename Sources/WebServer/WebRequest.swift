/// A request whose syntax is correct and whose access is allowed.
package struct WebRequest: Sendable {
  package typealias Field = (name: String, value: String)

  /// `GET`, `HEAD` or `POST`.
  package let method: String
  /// The path, percent-decoded. It begins with `/`; otherwise it is as the client has sent it.
  package let path: String
  /// The items of the query, in order. An item without `=` has an empty value.
  package let query: [Field]
  /// The headers in order. A value that is not UTF-8 has replacement characters.
  package let headers: [Field]
  /// The fields of a form that was posted, in order.
  package let form: [Field]

  /// Creates a request, also for tests of pages without a server.
  package init(
    method: String = "GET", path: String = "/", query: [Field] = [], headers: [Field] = [],
    form: [Field] = []
  ) {
    self.method = method
    self.path = path
    self.query = query
    self.headers = headers
    self.form = form
  }

  /// Returns the value of the first item of the query with this name.
  package func value(of name: String) -> String? { query.first { $0.name == name }?.value }

  /// Returns the value of the first field of the form with this name.
  package func field(_ name: String) -> String? { form.first { $0.name == name }?.value }

  /// Returns the value of the first header with this name, in upper or lower case.
  package func header(_ name: String) -> String? {
    let name = name.lowercased()
    return headers.first { $0.name.lowercased() == name }?.value
  }
}
