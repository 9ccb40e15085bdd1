/// The words of titles and summaries in both languages.
enum Words {
  struct Topic: Sendable {
    let chinese: String
    let english: String

    init(_ chinese: String, _ english: String) {
      self.chinese = chinese
      self.english = english
    }
  }

  static let topics: [Topic] = [
    Topic("并发编程", "Concurrency"), Topic("内存管理", "Memory Management"),
    Topic("数据库索引", "Database Indexes"), Topic("分布式系统", "Distributed Systems"),
    Topic("网络协议", "Network Protocols"), Topic("类型系统", "Type Systems"),
    Topic("编译原理", "Compilers"), Topic("函数式编程", "Functional Programming"),
    Topic("单元测试", "Unit Testing"), Topic("代码评审", "Code Review"),
    Topic("性能分析", "Profiling"), Topic("缓存设计", "Cache Design"),
    Topic("消息队列", "Message Queues"), Topic("日志与监控", "Logging and Monitoring"),
    Topic("接口设计", "API Design"), Topic("版本控制", "Version Control"),
    Topic("持续集成", "Continuous Integration"), Topic("容器技术", "Containers"),
    Topic("文件系统", "File Systems"), Topic("操作系统", "Operating Systems"),
    Topic("加密基础", "Cryptography Basics"), Topic("无障碍设计", "Accessibility"),
    Topic("动画与手势", "Animation and Gestures"), Topic("图形渲染", "Graphics Rendering"),
    Topic("音频处理", "Audio Processing"), Topic("机器学习", "Machine Learning"),
    Topic("全文检索", "Full-Text Search"), Topic("国际化", "Internationalization"),
    Topic("数据迁移", "Data Migration"), Topic("错误处理", "Error Handling"),
    Topic("字符串与编码", "Strings and Encodings"), Topic("正则表达式", "Regular Expressions"),
    Topic("命令行工具", "Command-Line Tools"), Topic("嵌入式开发", "Embedded Development"),
  ]

  /// `%` is the topic.
  static let episodeTitles: [Topic] = [
    Topic("从零开始学%", "% from Scratch"), Topic("%入门", "An Introduction to %"),
    Topic("%实战", "% in Practice"), Topic("深入理解%", "Understanding %"),
    Topic("%的常见误区", "Common Mistakes in %"), Topic("%背后的故事", "The Story behind %"),
    Topic("给初学者的%", "% for Beginners"), Topic("%：一次完整的案例", "%: a Complete Example"),
    Topic("重新认识%", "% Reconsidered"), Topic("%问答", "Questions about %"),
    Topic("一小时学会%", "% in One Hour"), Topic("%进阶技巧", "Advanced %"),
  ]

  static let pathTitles: [Topic] = [
    Topic("%学习路线", "Learning %"), Topic("%系列课程", "The % Series"),
    Topic("%：从入门到精通", "%: from First Steps to Mastery"),
    Topic("%工程师之路", "Becoming a % Engineer"), Topic("%训练营", "% Boot Camp"),
  ]

  /// `%` is the topic, `&` another one.
  static let openings: [Topic] = [
    Topic("本期我们聊聊%。", "This episode is about %."),
    Topic("为什么%总是让人头疼？", "Why is % so often a headache?"),
    Topic("我们用一个真实的项目来讲解%。", "We take % apart with the help of a real project."),
    Topic("%看起来简单，细节却不少。", "% looks easy, but the details matter."),
    Topic("学会%，先要弄懂它解决什么问题。", "To learn %, start with the problem it solves."),
  ]

  static let middles: [Topic] = [
    Topic("前半部分回顾基本概念，后半部分动手写代码。", "First the concepts, then the code."),
    Topic("你会看到它与&的联系。", "You will see how it relates to &."),
    Topic("嘉宾分享了十年来踩过的坑。", "Our guest tells of ten years of trial and error."),
    Topic("我们逐行阅读源代码。", "We read the source line by line."),
    Topic("如果你刚学完&，这一讲正适合你。", "A good next step if you have just finished &."),
  ]

  static let endings: [Topic] = [
    Topic("文末附有练习题。", "Exercises are in the notes."),
    Topic("无需任何基础。", "No prior knowledge is needed."),
    Topic("建议配合上一讲一起观看。", "Best watched together with the previous part."),
    Topic("示例代码可以下载。", "The sample code can be downloaded."),
    Topic("下一讲我们继续。", "To be continued in the next part."),
  ]
}
