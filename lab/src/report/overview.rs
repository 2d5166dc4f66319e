//! The first page of a folder of pages beside sources: what a reader must know before any of them.

use super::comparison::Comparison;
use super::document::{Block, Cell, Document, Plot, Table};
use super::lead::{keeping, place, quotes};
use super::markdown::markdown;
use super::measured::Measured;
use super::numbers::{figure, seconds};
use crate::harness::{Kind, Suite, TargetName};

/// The text below this line of the first page was written by hand, and stays when the page is written again.
pub const MARK: &str = "<!-- The text below was written by hand. -->";

/// A page of the folder.
pub struct Listed<'s> {
    pub measured: Measured,
    pub suite: Option<&'s Suite>,
    pub title: String,
}

/// The whole page. `before` is the page as it stands now; `picture` is a plot of one of the pages.
pub fn overview(pages: &[Listed<'_>], picture: Option<Plot>, before: &str) -> String {
    let mut document = Document { title: "Results".into(), ..Document::default() };
    let lines = lines(pages);
    if !lines.is_empty() {
        document.blocks.push(Block::List(lines));
    }
    document.blocks.extend(picture.map(Block::Plot));
    document.section("Where others win", [Block::Table(others(pages))]);
    document.section("The disk", disk(pages).map(Block::Text));
    document.section("Repeat it in three minutes", repeat());
    document.section("The pages", [Block::Table(listed(pages))]);
    let rest = before.split_once(MARK).map_or("\n", |(_, rest)| rest);
    format!("{}\n{MARK}{rest}", markdown(&document))
}

fn link(page: &Listed<'_>) -> String {
    format!("[{}]({}.md)", page.measured.page, page.measured.page)
}

/// A line for each suite: the first that others quote, from the page with the most repeats.
fn lines(pages: &[Listed<'_>]) -> Vec<String> {
    let mut best: Vec<(&str, &Listed<'_>, String)> = Vec::new();
    for page in pages {
        let Some(suite) = page.suite else { continue };
        let Some(line) = quotes::lines(&page.measured, suite.quotes).into_iter().next() else { continue };
        match best.iter_mut().find(|(name, ..)| *name == suite.name) {
            None => best.push((suite.name, page, line)),
            Some(found) if page.measured.results.run.repeats > found.1.measured.results.run.repeats => {
                *found = (suite.name, page, line);
            }
            Some(_) => {}
        }
    }
    let text = |(_, page, line): (&str, &Listed<'_>, String)| {
        let once = if page.measured.is_once() { " Measured once." } else { "" };
        format!("{}: {line}{once}", link(page))
    };
    best.into_iter().map(text).collect()
}

/// Every system that is better somewhere, by page.
fn others(pages: &[Listed<'_>]) -> Table {
    let mut rows = Vec::new();
    for page in pages {
        let measured = &page.measured;
        let comparisons = measured.comparisons();
        for target in measured.of_kind(&[Kind::Peer, Kind::Tuned]) {
            let own: Vec<&Comparison> =
                comparisons.iter().filter(|found| found.target == target.name).collect();
            let [better, most] = better(measured, &own);
            let less = keeps_less(measured, target);
            if !better.is_empty() || !less.is_empty() {
                let cells = [link(page), target.title.clone(), better, most, less];
                rows.push(cells.map(Cell::plain).to_vec());
            }
        }
    }
    let head = ["page", "system", "better in", "most", "faster, and keeps less, in"];
    Table::new("Systems that are better than Annals somewhere", head, rows)
}

/// In how many figures a system is better than Annals, and in which most; empty if in none.
fn better(measured: &Measured, own: &[&Comparison]) -> [String; 2] {
    let is_better = |found: &&&Comparison| found.ratio.ratio < 1.0 && !found.ratio.is_no_difference();
    let count = own.iter().filter(is_better).count();
    let most =
        own.iter().filter(is_better).min_by(|one, other| one.ratio.ratio.total_cmp(&other.ratio.ratio));
    most.map_or([const { String::new() }; 2], |most| {
        let times = figure(most.ratio.inverse().ratio);
        [format!("{count} of {}", own.len()), format!("{times} times, {}", place(measured, most))]
    })
}

/// The writes that no page compares, because the system keeps less; empty if it is faster in none.
fn keeps_less(measured: &Measured, target: &TargetName) -> String {
    let unlike = measured.unlike();
    let own: Vec<_> = unlike.iter().filter(|found| found.target.name == target.name).collect();
    match own.iter().filter(|found| found.ratio.ratio < 1.0).count() {
        0 => String::new(),
        count => format!("{count} of {} writes: it {}", own.len(), keeping(measured.class(&target.name))),
    }
}

/// The time of a durable write, and what it means on another disk; none if no run has it.
fn disk(pages: &[Listed<'_>]) -> Option<String> {
    let syncs: Vec<f64> = pages.iter().filter_map(|page| page.measured.results.run.sync_us).collect();
    let least = syncs.iter().copied().reduce(f64::min)?;
    let most = syncs.iter().copied().fold(least, f64::max);
    let [low, high] = [least, most].map(|us| seconds(us / 1e6));
    let range = if low == high { low } else { format!("{low} to {high}") };
    Some(format!(
        "A write of 512 bytes that is on the disk took {range} here, and **every figure of a commit hangs on that**. On a disk \
         that takes 1 ms, expect at most a thousand commits a second from one thread, of every system that syncs, and so hardly a \
         difference between them there. Where many threads commit, systems that share one sync among them, as Annals does, keep \
         their lead; those that sync each commit by itself fall back. Reads do not change."
    ))
}

/// The commands of a small measurement that shows whether these pages tell the truth.
fn repeat() -> Vec<Block> {
    let text = "On two cores, after the first build, which takes a quarter of an hour. `lab-data/report/index.html` is the page; its first \
                lines have the ratio to Bitsy from 100 and from 750 threads, and *Distrust* says if the machine was busy.";
    let commands = "lab/annals-lab install bitsy\n\
                    lab/annals-lab run threads --target annals,bitsy,disk --volume 100,750 --part commits --repeat 1\n\
                    lab/annals-lab report";
    vec![Block::Code(commands.into()), Block::Text(text.into())]
}

fn listed(pages: &[Listed<'_>]) -> Table {
    let row = |page: &Listed<'_>| {
        let run = &page.measured.results.run;
        let peers = page.measured.of_kind(&[Kind::Peer, Kind::Tuned]);
        let peers: Vec<&str> = peers.iter().map(|target| target.title.as_str()).collect();
        let repeats =
            if page.measured.is_once() { "once".to_owned() } else { format!("{} times", run.repeats) };
        let day = run.started.split('T').next().unwrap_or_default().to_owned();
        [link(page), page.title.clone(), peers.join("; "), repeats, day].map(Cell::plain).to_vec()
    };
    let head = ["page", "measures", "beside Annals", "measured", "on"];
    Table::new("Each page has all its figures", head, pages.iter().map(row).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::measured::tests::{figure, measured};
    use super::*;

    #[test]
    fn the_first_page_has_who_wins_the_disk_and_the_pages_and_keeps_what_people_wrote() {
        let mut found = measured(json!([
            figure("annals", "read", 0, 8.0),
            figure("other", "read", 0, 2.0),
            figure("annals", "write", 0, 1.0),
            figure("other", "write", 0, 3.0),
        ]));
        found.results.run.sync_us = Some(49.0);
        found.results.run.started = "2026-01-02T03:04:05Z".into();
        found.page = "mine".into();
        let page = Listed { measured: found, suite: None, title: "A page".into() };
        let before = format!("# Old\n\nold\n\n{MARK}\n\nNotes.\n");
        let text = overview(&[page], None, &before);
        for expected in [
            "# Results\n",
            "## Where others win\n",
            "| [mine](mine.md) | other | 1 of 2 | 3.00 times, in \"write\" at 1 |  |",
            "took 49.0 µs here",
            "```sh\nlab/annals-lab install bitsy\n",
            "| [mine](mine.md) | A page | other | once | 2026-01-02 |",
            "-->\n\nNotes.\n",
        ] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
        assert!(!text.contains("old"), "{text}");
    }
}
