"""Opens pages in headless Chromium, at the width of a desk and of a phone, and checks what a reader would miss.

    look.py CHROMIUM PAGE…

Each page must have a heading, tables with captions and heads, plots with a title and no text outside them, nothing that is wider than
the window, nothing loaded from elsewhere, and an empty console.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

WIDTHS = {"desk": 1280, "phone": 390}

PROBE = """<script>
addEventListener("load", () => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const problems = [];
  if (all("h1").length !== 1) problems.push("expected one h1");
  for (const table of all("table")) {
    if (!table.caption?.textContent.trim()) problems.push("a table without a caption");
    if (!table.querySelector("th[scope=col]")) problems.push("a table without heads of columns");
    const widths = new Set([...table.rows].map((row) => row.cells.length));
    if (widths.size !== 1) problems.push("rows of different length in: " + table.caption?.textContent);
    if ([...table.tBodies].some((body) => [...body.rows].some((row) => [...row.cells].every((cell) => !cell.textContent.trim()))))
      problems.push("an empty row in: " + table.caption?.textContent);
  }
  for (const plot of all("svg.plot")) {
    const name = plot.querySelector("title")?.textContent;
    if (!name) problems.push("a plot without a title");
    const frame = plot.getBoundingClientRect();
    if (frame.width < 100 || frame.height < 15) problems.push("a plot without room: " + name);
    if (/NaN|undefined|Infinity/.test(plot.outerHTML)) problems.push("a plot with no number: " + name);
    for (const text of plot.querySelectorAll("text")) {
      const box = text.getBoundingClientRect();
      if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
        problems.push(`text outside of the plot ${name}: ${text.textContent}`);
    }
  }
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (wide > 1) problems.push(`the page is ${wide} pixels wider than the window`);
  const found = { problems, tables: all("table").length, plots: all("svg.plot").length, width: innerWidth };
  parent.postMessage(JSON.stringify(found), "*");
});
</script>"""

# A window is at least 500 pixels wide; a frame can be as narrow as a phone.
FRAME = """<!doctype html><title>frame</title>
<script>addEventListener("message", (event) => { document.getElementById("found").textContent = event.data; });</script>
<iframe src="page.html" width="WIDTH" height="900"></iframe><pre id="found"></pre>"""


def look(chromium, page, width):
    """What the probe found, and what the console says."""
    text = page.read_text()
    outside = re.findall(r"""(?:src|href)=["'](?!#|data:)([^"']+)""", text)
    loaded = [address for address in outside if not text.count(f'<a href="{address}"')]
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "page.html").write_text(text.replace("</body>", PROBE + "</body>"))
        frame = pathlib.Path(folder) / "frame.html"
        frame.write_text(FRAME.replace("WIDTH", str(width)))
        command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", f"--user-data-dir={folder}/profile",
                   "--window-size=1400,1000", "--virtual-time-budget=20000", "--dump-dom", frame.as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    found = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.S)
    if not found or not found.group(1):
        sys.exit(f"{page}: the page did not load: {done.stderr[-2000:]}")
    found = json.loads(found.group(1).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    found["problems"] += [f"on the console: {line}" for line in console] + [f"loads {address}" for address in loaded]
    return found


def main(chromium, pages):
    failed = looked = 0
    for page in map(pathlib.Path, pages):
        for name, width in WIDTHS.items():
            found = look(chromium, page, width)
            if not found["tables"]:
                found["problems"].append("expected tables, found none")
            print(f"{page.name} at the width of a {name} ({found['width']}): {found['tables']} tables, {found['plots']} plots")
            for problem in sorted(set(found["problems"])):
                print(f"  {problem}")
            looked += 1
            failed += bool(found["problems"])
    print(f"{looked - failed} passed, {failed} failed")
    sys.exit(failed > 0)


main(sys.argv[1], sys.argv[2:])
