/// Compiles a pattern to instructions, with repetitions written out.
struct IRegexpCompiler {
  private var program: [IRegexpInstruction] = []
  /// The number of parts written, including empty ones, whose repetition is work too.
  private var written = 0

  static func program(of node: IRegexpNode) throws(IRegexpError) -> [IRegexpInstruction] {
    var compiler = IRegexpCompiler()
    try compiler.write(node)
    compiler.program.append(.accept)
    return compiler.program
  }

  private mutating func write(_ node: IRegexpNode) throws(IRegexpError) {
    written += 1
    guard written <= IRegexp.sizeMax, program.count <= IRegexp.sizeMax else { throw .tooLarge }
    switch node {
    case .empty: break
    case .single(let instruction): program.append(instruction)
    case .sequence(let nodes): for node in nodes { try write(node) }
    case .choice(let nodes): try write(choice: nodes)
    case .repetition(let node, let min, let max): try write(node, min: min, max: max)
    }
  }

  /// Writes for each branch but the last a split to it and to the next, and a jump to the end.
  private mutating func write(choice nodes: [IRegexpNode]) throws(IRegexpError) {
    var jumps: [Int] = []
    for node in nodes.dropLast() {
      let split = reserve()
      try write(node)
      jumps.append(reserve())
      program[split] = .split(split + 1, program.count)
    }
    if let last = nodes.last { try write(last) }
    for jump in jumps { program[jump] = .jump(program.count) }
  }

  private mutating func write(_ node: IRegexpNode, min: Int, max: Int?) throws(IRegexpError) {
    for _ in 0..<min { try write(node) }
    guard let max else { return try write(loop: node) }
    var splits: [Int] = []
    for _ in min..<max {
      splits.append(reserve())
      try write(node)
    }
    for split in splits { program[split] = .split(split + 1, program.count) }
  }

  private mutating func write(loop node: IRegexpNode) throws(IRegexpError) {
    let split = reserve()
    try write(node)
    program.append(.jump(split))
    program[split] = .split(split + 1, program.count)
  }

  /// Appends an instruction whose targets are not known yet, and returns its place.
  private mutating func reserve() -> Int {
    program.append(.accept)
    return program.count - 1
  }
}
