"""Checks of the pages of `mooring serve` in a browser. See `run`."""

import http.server
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

BINARIES, SCREENSHOTS = sys.argv[1], sys.argv[2]
WIDTHS = [(1280, 900), (768, 1024), (390, 844)]
PAGES = ["/", "/feeds", "/feeds/1", "/runs", "/jobs", "/jobs/1", "/records", "/records/Episode",
         "/records/Episode/1", "/store", "/fetches", "/log"]
# The pictures of the documentation, by page and width.
PICTURES = {("/", 1280): "overview", ("/", 390): "overview-phone", ("/jobs", 1280): "jobs-page"}
FAILURES = []


def check(holds, text):
    if not holds:
        FAILURES.append(text)
        print(f"FAILED: {text}")


class Feed(http.server.BaseHTTPRequestHandler):
    """A feed whose items the test changes."""

    items = ["First"]

    def do_GET(self):
        entries = "".join(
            f"<item><guid>{title}</guid><title>{title} &lt;script&gt;</title></item>"
            for title in Feed.items)
        body = ("<rss version='2.0'><channel><title>News &amp; more</title>"
                f"{entries}</channel></rss>").encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/rss+xml")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


def mooring(*words, **variables):
    return subprocess.run(
        [f"{BINARIES}/mooring", *words], capture_output=True, text=True,
        env={**os.environ, **variables})


def prepare(feed):
    for words in [
        ("feed", "add", "--no-check", feed),
        ("sync", feed),
        ("jobs", "enqueue", "nobody.knows"),
    ]:
        run = mooring(*words)
        check(run.returncode == 0, f"mooring {' '.join(words)}: {run.stderr}")


class Server:
    """A running `mooring serve`."""

    def __init__(self, *options):
        self.process = subprocess.Popen(
            [f"{BINARIES}/mooring", "serve", *options], stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        found = re.search(r"(http://[^/]+)/\?token=(\w+)", line)
        check(found, f"mooring serve said: {line}")
        self.base, self.token = found.groups()
        self.url = f"{self.base}/?token={self.token}"

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.terminate()
        check(self.process.wait(20) == 0, "mooring serve does not end with 0 after SIGTERM")


def context_of(browser, size, scheme, requests):
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
    context.on("request", lambda request: requests.append(request.url))
    return context


def check_pages(browser, server):
    requests = []
    for size in WIDTHS:
        for scheme in ["light", "dark"]:
            context = context_of(browser, size, scheme, requests)
            page = context.new_page()
            errors = []
            page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
            page.on("pageerror", lambda error: errors.append(str(error)))
            page.goto(server.url)
            check("token" not in page.url, "the token stays in the address")
            for path in PAGES:
                where = f"{path} at {size[0]} {scheme}"
                answer = page.goto(server.base + path)
                check(answer.status == 200, f"{where}: status {answer.status}")
                wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
                check(wide <= 0, f"{where}: {wide} pixels too wide")
                results = Axe().run(page)
                check(results.violations_count == 0, f"{where}: {results.generate_report()}")
                picture = PICTURES.get((path, size[0]))
                if SCREENSHOTS and picture:
                    suffix = "~dark" if scheme == "dark" else ""
                    page.screenshot(path=f"{SCREENSHOTS}/{picture}{suffix}.png")
            check(not errors, f"errors of the console at {size[0]} {scheme}: {errors}")
            context.close()
    foreign = {url for url in requests if not url.startswith(server.base)}
    check(not foreign, f"requests elsewhere: {foreign}")


def check_live(browser, server, feed):
    """More pages than a browser has connections to a server show what another process writes."""
    context = context_of(browser, WIDTHS[0], "light", [])
    context.new_page().goto(server.url)
    pages = [context.new_page() for _ in range(10)]
    for page in pages:
        page.goto(server.base + "/records/Episode?where=title BEGINSWITH 'Second'")
    for page in pages:
        page.wait_for_selector("#live:has-text('Live')")
    Feed.items = ["First", "Second"]
    mooring("sync", "--now", feed)
    for page in pages:
        page.wait_for_selector("text=Second <script>", timeout=20_000)
    context.pages[0].close()
    Feed.items = ["First", "Second", "Second too"]
    mooring("sync", "--now", feed)
    pages[-1].wait_for_selector("text=Second too", timeout=20_000)
    context.close()


def check_problems(browser, server):
    """Each problem is on the page, in the status, and in top."""
    page = context_of(browser, WIDTHS[0], "light", []).new_page()
    page.goto(server.url)
    words = ["1 feed is failing", "1 feed is waiting", "1 job is poisoned"]
    # The largest reserve makes a disk full, unless it has more.
    if shutil.disk_usage(tempfile.gettempdir()).free < 1 << 40:
        words.append("the disk is full")
    for name, text in [
        ("the overview", page.inner_text("main")),
        ("mooring status", mooring("status").stdout),
        ("mooring top", mooring("top", TERM="dumb").stdout),
    ]:
        for phrase in words:
            check(phrase in text, f"{name} does not say \"{phrase}\": {text}")


def check_without_script(browser, server):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(server.url)
    page.click("nav >> text=Records")
    page.click("text=Episode")
    page.fill("input[name=where]", "title CONTAINS 'First'")
    page.click("form.query button")
    check("First" in page.inner_text("table"), "a predicate without script finds nothing")


def check_actions(browser, server):
    page = context_of(browser, WIDTHS[0], "light", []).new_page()
    page.goto(server.url)
    page.goto(server.base + "/jobs")
    page.click("ul.counts >> text=ready")
    page.click("tr:has-text('nobody.knows') a")
    page.click("button:has-text('cancel')")
    page.wait_for_selector("dd:has-text('cancelled')")
    page.goto(server.base + "/log")
    check("cancel job" in page.inner_text("table"), "the action is not in the log")
    forged = page.request.post(
        server.base + "/actions", form={"action": "retry", "job": "1", "csrf": "wrong"},
        headers={"Origin": server.base})
    check(forged.status == 403, f"a form with a wrong token has status {forged.status}")
    foreign = page.request.post(
        server.base + "/actions", form={"action": "retry", "job": "1"},
        headers={"Origin": "http://evil.example"})
    check(foreign.status == 403, f"a form of another page has status {foreign.status}")
    stranger = browser.new_context().request.get(server.base + "/")
    check(stranger.status == 401, f"a request without the token has status {stranger.status}")


def main():
    feeds = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Feed)
    threading.Thread(target=feeds.serve_forever, daemon=True).start()
    feed = f"http://127.0.0.1:{feeds.server_address[1]}/feed"
    with sync_playwright() as playwright:
        prepare(feed)
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        with Server("--allow-actions") as server:
            check_problems(browser, server)
            check_pages(browser, server)
            check_without_script(browser, server)
            check_live(browser, server, feed)
            check_actions(browser, server)
        browser.close()
    if FAILURES:
        sys.exit(f"{len(FAILURES)} checks of the pages failed")
    print("The pages passed all checks.")


main()
