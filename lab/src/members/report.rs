//! Results: a table for a terminal, a page in Markdown, or one JSON object for each script and size.

use serde_json::{Value as Json, json};

use super::measure::{Figures, Retrieval};
use super::published::{Published, published};
use super::script::{Script, Wording};
use crate::run::page::{self, Form};
use crate::run::table::{aligned, time};
use crate::run::{Machine, figure};

/// The size at which the bars are judged.
const JUDGED_ITEMS: usize = 10_000;
/// The most that a retrieval with curl may take.
const CURL_MS_MAX: f64 = 100.0;
/// The least requests per second of a load.
const REQUESTS_PER_S_MIN: f64 = 5_000.0;
/// The most that the last PATCH may take, in times of the 10th.
const GROWTH_MAX: f64 = 1.5;

/// The text before the figures on the page.
const ABOUT: &str = "\
The six scripts of a published page on repositories with many members, against one LDP server. *Load* is the time of all requests \
over connections that stay open; *each* is the time of one item around the 10th, the half and the last. *Cold* is the first \
retrieval after the load, *warm* the median of the next ones, *first byte* of the warm ones, and *curl* the median of whole \
processes of curl, as the scripts time it. Each count is checked with the text that the script looks for, and each line of an \
answer is one triple.";

/// Notes for readers of the figures.
pub const UNFAIR: &[&str] = &[
    "One run measured these figures, one script after the other. It has no interval for the next run.",
    "The client and the server share the cores of this machine.",
    "The scripts load with one curl for each request, and most of that time is the start of curl. The load here keeps its \
     connections open, and only its retrievals compare with the page.",
    "The published figures come from other machines and other programs, and are the testers' best ones. No figure here compares \
     with a figure there.",
    "*Cold* is cold for the server's own caches only: it has just written what it reads, and the system has it in memory.",
    "The time of each item of a load with several connections includes the wait for the others. The values of one resource are \
     added with one connection.",
    "n-children also overwrites its container once. The lab does not, because a server that refuses this still lists children. \
     suites/many-members/run does.",
];

/// The note for a run with the other wording.
const FEDORA6: &str = "\
The requests are not the page's own: with `--fedora6` the lab posts objects as Turtle, makes indirect containers by the header \
`Link`, and asks for inbound references by their newer IRI. As the page has them, Fedora 6 refuses n-members and n-memberof. \
Fedora 6 lists no memberships among the inbound references, so n-memberof retrieves and counts the proxies only: half of the \
lines that the page has.";

/// The server that ran the scripts.
#[derive(Clone, Copy)]
pub struct Target<'a> {
    /// Its URL or its name.
    pub server: &'a str,
    pub wording: Wording,
}

/// The result of a script at one size.
pub struct Row {
    pub script: Script,
    pub items: usize,
    /// Bytes of a binary before its number.
    pub binary_bytes: usize,
    /// The error is its text.
    pub result: Result<Figures, String>,
}

/// One row as JSON.
pub fn json(row: &Row, target: Target<'_>) -> Json {
    let mut json = json!({ "server": target.server, "script": row.script.name(), "items": row.items });
    json["wording"] = match target.wording {
        Wording::Page => "page",
        Wording::Fedora6 => "fedora6",
    }
    .into();
    if row.script == Script::Binaries {
        json["binaryBytes"] = row.binary_bytes.into();
    }
    let retrieval =
        |times: Retrieval| json!({ "firstByteMs": times.first_byte_ms, "wholeMs": times.whole_ms });
    match &row.result {
        Err(error) => json["error"] = error.as_str().into(),
        Ok(figures) => {
            let [tenth, half, last] = figures.each_ms;
            json["connections"] = figures.connections.into();
            json["loadS"] = figures.load.as_secs_f64().into();
            json["requests"] = figures.requests.into();
            json["requestsPerS"] = requests_per_s(figures).into();
            json["eachMs"] = json!({ "tenth": tenth, "half": half, "last": last });
            json["cold"] = retrieval(figures.cold);
            json["warm"] = retrieval(figures.warm);
            json["curlMs"] = figures.curl_ms.into();
            json["bytes"] = figures.bytes.into();
            json["found"] = figures.found.into();
        }
    }
    let range = published(row.script, row.items);
    json["publishedThere"] = range.map_or(Json::Null, |range| {
        let entry = |entry: &super::published::Entry| {
            json!({ "seconds": entry.seconds, "environment": entry.environment })
        };
        json!({ "least": entry(&range.least), "most": entry(&range.most), "entries": range.entries })
    });
    json
}

/// The page before its table.
pub fn head(machine: &Machine) -> String {
    page::head("Repositories with many members", ABOUT, machine, &machine.doubts())
}

/// The table, the bars and the notes.
pub fn table(rows: &[Row], target: Target<'_>, form: Form) -> String {
    let names = [
        "script",
        "items",
        "load",
        "requests/s",
        "each: 10th / half / last",
        "first byte",
        "cold",
        "warm",
        "curl",
        "found",
        "published there",
    ];
    let mut lines = vec![names.map(str::to_owned).to_vec()];
    lines.extend(rows.iter().map(line));
    let errors: String = rows
        .iter()
        .filter_map(|row| Some((row, row.result.as_ref().err()?)))
        .map(|(row, error)| format!("- {}, {}: {error}\n", row.script.name(), count(row.items)))
        .collect();
    let errors = if errors.is_empty() { errors } else { format!("\nErrors:\n\n{errors}") };
    let notes = match form {
        Form::Markdown => page::foot(UNFAIR),
        Form::Json | Form::Text => {
            let notes: String = UNFAIR.iter().map(|text| format!("- {text}\n")).collect();
            format!("\n## Limits of the comparison\n\n{notes}")
        }
    };
    let wording = match target.wording {
        Wording::Page => String::new(),
        Wording::Fedora6 => format!("{FEDORA6}\n\n"),
    };
    format!("\n## {}\n\n{wording}{}{}{errors}{notes}", target.server, aligned(&lines), bars(rows))
}

fn line(row: &Row) -> Vec<String> {
    let ms = |ms: f64| time(ms * 1e6);
    let script = match row.script {
        Script::Binaries => format!("{} of {} kB", row.script.name(), count(row.binary_bytes / 1_000)),
        script => script.name().to_owned(),
    };
    let mut cells = vec![script, count(row.items)];
    match &row.result {
        Ok(figures) => cells.extend([
            time(figures.load.as_secs_f64() * 1e9),
            figure(requests_per_s(figures)),
            figures.each_ms.map(ms).join(" / "),
            ms(figures.warm.first_byte_ms),
            ms(figures.cold.whole_ms),
            ms(figures.warm.whole_ms),
            ms(figures.curl_ms),
            count(figures.found),
        ]),
        Err(_) => cells.extend(["ERR", "", "", "", "", "", "", ""].map(str::to_owned)),
    }
    cells.push(published(row.script, row.items).map_or("-".into(), |range| there(row.script, &range)));
    cells
}

fn there(script: Script, range: &Published) -> String {
    let what = if script == Script::Binaries { "load " } else { "" };
    let [least, most] = [&range.least, &range.most].map(|entry| {
        let environment = &entry.environment;
        format!("{} ({environment})", time(entry.seconds * 1e9))
    });
    format!("{what}{least} to {most}, of {}", range.entries)
}

/// The bars of the rows with the judged size, each with its figure.
fn bars(rows: &[Row]) -> String {
    let judged = rows.iter().filter(|row| row.items == JUDGED_ITEMS && row.script != Script::Binaries);
    let mut text = String::new();
    for (row, figures) in judged.filter_map(|row| Some((row, row.result.as_ref().ok()?))) {
        let mut judge = |what: &str, found: String, sign: &str, bar: String, holds: bool| {
            let holds = if holds { "holds" } else { "MISSED" };
            text += &format!("- {}, {what}: {found} {sign} {bar}: {holds}\n", row.script.name());
        };
        let curl = figures.curl_ms;
        judge("curl", time(curl * 1e6), "<=", time(CURL_MS_MAX * 1e6), curl <= CURL_MS_MAX);
        if row.script.is_patch() {
            let times = figures.each_ms[2] / figures.each_ms[0];
            let found = format!("{times:.2} times the 10th");
            judge("last PATCH", found, "<=", GROWTH_MAX.to_string(), times <= GROWTH_MAX);
        } else {
            let rate = requests_per_s(figures);
            let holds = rate >= REQUESTS_PER_S_MIN;
            judge("requests/s of the load", figure(rate), ">=", figure(REQUESTS_PER_S_MIN), holds);
        }
    }
    if text.is_empty() { text } else { format!("\nBars:\n\n{text}") }
}

fn requests_per_s(figures: &Figures) -> f64 {
    figures.requests as f64 / figures.load.as_secs_f64()
}

fn count(number: usize) -> String {
    figure(number as f64).trim_end_matches(".00").replace("0.000", "0")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn row(script: Script, items: usize) -> Row {
        let cold = Retrieval { first_byte_ms: 2.0, whole_ms: 30.0 };
        let warm = Retrieval { first_byte_ms: 1.0, whole_ms: 20.0 };
        let figures = Figures {
            connections: 8,
            load: Duration::from_secs(2),
            requests: items,
            each_ms: [1.0, 1.0, 2.0],
            cold,
            warm,
            curl_ms: 120.0,
            bytes: 7,
            found: items,
        };
        Row { script, items, binary_bytes: 1_000_000, result: Ok(figures) }
    }

    const THERE: Target<'_> = Target { server: "there", wording: Wording::Page };

    #[test]
    fn the_table_has_the_page_beside_it_and_judges_only_the_larger_size() {
        let failed = Row { result: Err("no room".into()), ..row(Script::Binaries, 1_000) };
        let rows =
            [row(Script::Children, 10_000), row(Script::Uris, 10_000), row(Script::Members, 1_000), failed];
        let text = table(&rows, THERE, Form::Text);
        let line = |name: &str| text.lines().find(|line| line.starts_with(&format!("| {name}"))).unwrap();
        let cells: Vec<&str> = line("n-children").trim_matches('|').split('|').map(str::trim).collect();
        let there = "4.84 s (c4.4xlarge, file-simple) to 5.57 s (c4.2xlarge, file-simple), of 4";
        let each = "1.00 ms / 1.00 ms / 2.00 ms";
        let expected = [
            "n-children",
            "10,000",
            "2.00 s",
            "5,000",
            each,
            "1.00 ms",
            "30.0 ms",
            "20.0 ms",
            "120 ms",
            "10,000",
            there,
        ];
        assert_eq!(cells, expected);
        assert!(line("n-binaries of 1,000 kB").contains("ERR"), "{text}");
        assert!(line("n-binaries").contains("load 133 s (m3.medium, jdbc-postgresql) to 396 s"), "{text}");
        assert!(text.contains("- n-binaries, 1,000: no room\n"), "{text}");
        assert!(text.contains("- n-children, curl: 120 ms <= 100 ms: MISSED\n"), "{text}");
        assert!(text.contains("- n-children, requests/s of the load: 5,000 >= 5,000: holds\n"), "{text}");
        assert!(text.contains("- n-uris, last PATCH: 2.00 times the 10th <= 1.5: MISSED\n"), "{text}");
        assert!(!text.contains("- n-members"), "{text}");
    }

    #[test]
    fn the_table_says_that_its_requests_are_not_those_of_the_page() {
        let rows = [row(Script::Members, 1_000)];
        let page = table(&rows, THERE, Form::Text);
        let other = table(&rows, Target { wording: Wording::Fedora6, ..THERE }, Form::Text);
        let told = format!("\n## there\n\n{FEDORA6}\n\n| script");
        assert!(page.starts_with("\n## there\n\n| script"), "{page}");
        assert!(other.starts_with(&told), "{other}");
        let json = json(&rows[0], Target { wording: Wording::Fedora6, ..THERE });
        assert_eq!(json["wording"], "fedora6");
    }

    #[test]
    fn an_object_has_units_in_its_names() {
        let expected = json!({
            "server": "there", "wording": "page", "script": "n-uris", "items": 1_000, "connections": 8, "loadS": 2.0, "requests": 1_000,
            "requestsPerS": 500.0, "eachMs": { "tenth": 1.0, "half": 1.0, "last": 2.0 },
            "cold": { "firstByteMs": 2.0, "wholeMs": 30.0 }, "warm": { "firstByteMs": 1.0, "wholeMs": 20.0 },
            "curlMs": 120.0, "bytes": 7, "found": 1_000,
            "publishedThere": {
                "least": { "seconds": 0.039, "environment": "m3.medium" },
                "most": { "seconds": 0.14, "environment": "i7-4600U" },
                "entries": 2,
            },
        });
        assert_eq!(json(&row(Script::Uris, 1_000), THERE), expected);
        let failed = Row { result: Err("no".into()), ..row(Script::Binaries, 7) };
        let expected = json!({
            "server": "there", "wording": "page", "script": "n-binaries", "items": 7, "binaryBytes": 1_000_000, "error": "no",
            "publishedThere": null,
        });
        assert_eq!(json(&failed, THERE), expected);
    }
}
