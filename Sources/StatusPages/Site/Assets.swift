import WebServer

/// The style sheet, the script and the icon of the pages.
enum Assets {
  static func response(_ text: String, _ type: String) -> WebResponse {
    WebResponse(
      headers: [("Content-Type", "\(type); charset=utf-8"), ("Cache-Control", "max-age=3600")],
      body: .bytes(Array(text.utf8)))
  }

  static let style = """
    :root { --text: #1c2126; --muted: #59636e; --back: #fff; --raised: #f4f6f8; --line: #d5dae0;
      --accent: #0b5cad; --bad: #b3261e; --warn: #8a5300; --good: #1b6e35; --bar: #4a7fb5; }
    @media (prefers-color-scheme: dark) {
      :root { --text: #e6e9ec; --muted: #a3adb8; --back: #14181c; --raised: #1e242a;
        --line: #39424c; --accent: #7db8f5; --bad: #ff9d94; --warn: #f0b866; --good: #7fd49a;
        --bar: #6ea3d8; } }
    * { box-sizing: border-box; }
    body { margin: 0; font: 15px/1.45 system-ui, sans-serif; color: var(--text);
      background: var(--back); }
    header { border-bottom: 1px solid var(--line); background: var(--raised); }
    nav { display: flex; flex-wrap: wrap; padding: 0 12px; }
    nav a { padding: 12px; color: var(--text); text-decoration: none; }
    nav a[aria-current] { font-weight: 600; box-shadow: inset 0 -3px var(--accent); }
    main { padding: 8px 16px 24px; }
    h1 { font-size: 22px; margin: 12px 0; overflow-wrap: anywhere; }
    h2 { font-size: 17px; margin: 24px 0 8px; }
    a { color: var(--accent); }
    .file { font-size: 13px; font-weight: 400; }
    .muted, .empty, time { color: var(--muted); }
    .scroll { overflow-x: auto; }
    table { border-collapse: collapse; width: 100%; }
    th, td { text-align: left; vertical-align: top; padding: 6px 10px;
      border-bottom: 1px solid var(--line); max-width: 28em; overflow-wrap: break-word; }
    th { white-space: nowrap; font-weight: 600; color: var(--muted); }
    td time, td.n { white-space: nowrap; }
    .n { text-align: right; font-variant-numeric: tabular-nums; }
    dl { margin: 0; } dl div { display: flex; flex-wrap: wrap; padding: 4px 0;
      border-bottom: 1px solid var(--line); }
    dt { width: 12em; color: var(--muted); } dd { margin: 0; flex: 1 1 16em; min-width: 0;
      overflow-wrap: anywhere; }
    .problems { list-style: none; padding: 0; } .problems li { padding: 8px 12px; margin: 6px 0;
      border-left: 4px solid var(--line); background: var(--raised); overflow-wrap: anywhere; }
    .problems .critical { border-color: var(--bad); } .problems .warning
      { border-color: var(--warn); }
    .critical b, .gone, .failing, .poisoned, .discarded { color: var(--bad); }
    .warning b, p.warning, .late { color: var(--warn); } .good { color: var(--good); }
    code { font-size: 14px; background: var(--back); border: 1px solid var(--line);
      border-radius: 4px; padding: 1px 5px; }
    .tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); gap: 10px;
      margin-top: 16px; }
    .tile { display: flex; flex-direction: column; padding: 12px; border: 1px solid var(--line);
      border-radius: 8px; text-decoration: none; color: var(--text); background: var(--raised); }
    .tile b { font-size: 20px; } .tile.bad b { color: var(--bad); }
    .counts { display: flex; flex-wrap: wrap; gap: 6px 18px; list-style: none; padding: 0; }
    svg { display: block; fill: var(--bar); } svg .bad { fill: var(--bad); }
    .chart { width: 100%; height: 110px; background: var(--raised); } .chart.low { height: 34px; }
    .hit { fill: transparent; } figure { margin: 20px 0; } .axis { display: flex;
      justify-content: space-between; color: var(--muted); font-size: 13px; }
    form { display: inline; } .query { display: flex; flex-wrap: wrap; gap: 12px;
      align-items: end; margin: 12px 0; }
    input, select, button { font: inherit; color: inherit; background: var(--back);
      border: 1px solid var(--muted); border-radius: 4px; padding: 5px 8px; max-width: 100%; }
    label { max-width: 100%; } button { cursor: pointer; background: var(--raised); }
    pre { overflow-x: auto; background: var(--raised); padding: 10px; }
    footer { padding: 12px 16px; border-top: 1px solid var(--line); color: var(--muted); }
    :focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
    """

  /// Replaces the content of the page after commits, unless somebody uses a form in it.
  static let script = """
    "use strict";
    (() => {
      const content = document.getElementById("content");
      const live = document.getElementById("live");
      let isLoading = false, isStale = false;
      async function load() {
        if (document.hidden || isLoading || content.contains(document.activeElement) &&
            document.activeElement.matches("input, select, button")) { isStale = true; return; }
        isLoading = true; isStale = false;
        const open = [...content.querySelectorAll("details")].map(part => part.open);
        const scrolled = [...content.querySelectorAll(".scroll")].map(part => part.scrollLeft);
        const url = new URL(location.href);
        url.searchParams.set("part", "main");
        try {
          const response = await fetch(url, { credentials: "same-origin" });
          if (response.ok) {
            content.innerHTML = await response.text();
            content.querySelectorAll("details").forEach((part, i) => { part.open = open[i]; });
            content.querySelectorAll(".scroll").forEach((part, i) => {
              part.scrollLeft = scrolled[i] || 0; });
            live.textContent = "Live. ";
          }
        } catch { live.textContent = "Not connected. "; }
        isLoading = false;
      }
      // A browser has six connections to a server, so that one page listens and tells the others.
      const channel = new BroadcastChannel("changes");
      let events = null, isLive = false, wasLost = false;
      function hear(message) {
        if (message === "change" || message === "live" && wasLost) load();
        wasLost = message === "lost";
        live.textContent = wasLost ? "Not connected. " : "Live. ";
      }
      function listen() {
        const tell = message => { hear(message); channel.postMessage(message); };
        events = new EventSource("/events");
        events.addEventListener("change", () => tell("change"));
        events.onopen = () => { isLive = true; tell("live"); };
        events.onerror = () => { isLive = false; tell("lost"); };
      }
      channel.onmessage = event => {
        if (event.data !== "joined") hear(event.data);
        else if (isLive) channel.postMessage("live");
      };
      channel.postMessage("joined");
      if (navigator.locks) {
        navigator.locks.request("listener", () => { listen(); return new Promise(() => {}); });
      } else {
        // Without TLS, on another machine: each visible page listens for itself.
        const follow = () => {
          if (!document.hidden) { if (!events) listen(); return; }
          if (events) { events.close(); events = null; isStale = true; }
        };
        document.addEventListener("visibilitychange", follow);
        follow();
      }
      document.addEventListener("visibilitychange", () => { if (isStale) load(); });
    })();
    """

  static let icon = """
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#0b5cad" \
    d="M7 5h2v2h3v2H9v4.9A5 5 0 0 0 13 9h2A7 7 0 0 1 1 9h2a5 5 0 0 0 4 4.9V9H4V7h3z"/>\
    <circle cx="8" cy="3" r="2" fill="none" stroke="#0b5cad" stroke-width="1.6"/></svg>
    """
}
