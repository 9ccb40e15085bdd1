@testable import FeedDocuments

/// A line is an expression or an error with a place inside it, the rest is a JSON document or an
/// error, and what the expression selects is found again by its normalized path and its pointer.
/// The line is taken for a pointer, a template and a pattern, too.
@_cdecl("fuzz_json_path")
public func fuzzJSONPath(_ bytes: UnsafePointer<UInt8>?, _ count: Int) {
  // SAFETY: libFuzzer keeps the `count` bytes until this returns; they are copied.
  let input = UnsafeBufferPointer(start: bytes, count: count)
  let line = input.prefix { $0 != UInt8(ascii: "\n") }
  let text = String(decoding: line, as: UTF8.self)
  readOtherwise(text)
  do throws(JSONPathError) {
    let path = try JSONPath(text)
    follow(path, in: Array(input.dropFirst(line.count + 1)))
  } catch {
    guard let offset = error.offset, (0...text.utf8.count).contains(offset) else {
      fatalError("an error without a place: \(error)")
    }
  }
}

/// The padding holds digits, so that a number which is read too far is a wrong one; the sanitizer
/// sees what is read beyond it.
private func follow(_ path: JSONPath, in document: [UInt8]) {
  let padded = document + Array(repeating: UInt8(ascii: "7"), count: JSONParser.padding)
  padded.withUnsafeBytes { bytes in
    let text = UnsafeRawBufferPointer(rebasing: bytes.prefix(document.count))
    do throws(DocumentError) {
      try JSONParser().withValue(text) { root in follow(path, in: root) }
    } catch {
      guard (0...document.count).contains(error.offset ?? 0) else {
        fatalError("an error outside the document: \(error)")
      }
    }
  }
}

private func follow(_ path: JSONPath, in root: JSONValue) {
  var found: [(node: JSONValue, location: JSONLocation)] = []
  do throws(JSONPathError) {
    try path.forEach(in: root, workMax: 200_000) { node, location in
      found.append((node, location))
      return found.count < 8
    }
    guard !path.isSingular || found.count <= 1 else { fatalError("singular, but several nodes") }
    for (node, location) in found where isUnique(location, in: root) {
      let again = try JSONPath(location.normalizedPath).nodes(in: root)
      expectSame(again.first, node, at: location)
      guard again.count == 1 else { fatalError("\(again.count) nodes at one place") }
      expectSame(location.pointer.value(in: root), node, at: location)
    }
  } catch {
    guard error.code == .tooMuchWork else { fatalError("another error: \(error)") }
  }
}

/// Not where a name is given twice, which stands for its last value; nor where the path would be
/// longer than expressions are.
private func isUnique(_ location: JSONLocation, in root: JSONValue) -> Bool {
  var node = root
  for step in location.steps {
    switch step {
    case .name(let name):
      let namesakes = node.members.filter { $0.name.textBytes.elementsEqual(name.textBytes) }
      guard namesakes.count == 1 else { return false }
      node = namesakes[0].value
    case .index(let index):
      node = Array(node.elements)[index]
    }
  }
  return location.steps.count <= JSONPath.segmentsMax
    && location.normalizedPath.utf8.count <= JSONPath.textBytesMax
}

private func expectSame(_ found: JSONValue?, _ node: JSONValue, at location: JSONLocation) {
  guard let found, found.kind == node.kind, found.textBytes.elementsEqual(node.textBytes) else {
    fatalError("another node at \(location.normalizedPath), or none")
  }
}

/// Pointers and templates read back, and no pattern takes longer than text times pattern.
private func readOtherwise(_ text: String) {
  if let pointer = try? JSONPointer(text) {
    guard pointer.description.utf8.elementsEqual(text.utf8) else {
      fatalError("the pointer reads as \(pointer)")
    }
  }
  if let template = try? URLTemplate(text) {
    guard let url = template.expand({ _ in "é/ " }), url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    else { fatalError("not expanded to a URL") }
  }
  if let pattern = try? IRegexp(text) {
    for isWhole in [true, false] {
      var steps = 0
      _ = pattern.matches(text.unicodeScalars, isWhole: isWhole) { steps += $0 }
      guard steps <= (text.unicodeScalars.count + 2) * (pattern.size + 2) else {
        fatalError("\(steps) steps")
      }
    }
  }
}
