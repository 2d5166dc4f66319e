//! Results: a table for each target, or one JSON object for each row, size and target.

use serde_json::{Value as Json, json};

use super::cost::Cost;
use super::measure::{Form, Samples};
use super::row::{Limit, Row};
use crate::run::figure;
use crate::run::table::{aligned, time};

/// Size at which bars in nanoseconds are judged.
const JUDGED_ITEMS: u32 = 100_000;

/// A row of one target, at every size.
pub struct Measured {
    pub row: &'static Row,
    /// Shape: items, the result.
    pub sizes: Vec<(u32, Found)>,
}

/// The result of a row at one size.
pub enum Found {
    Samples(Samples),
    /// The target cannot answer a call of the row yet, for this reason.
    Skip(&'static str),
    /// The row failed.
    Error(String),
}

/// All rows of one target.
pub struct Table {
    /// `--target` of it.
    pub name: &'static str,
    pub title: &'static str,
    pub form: Form,
    /// Whether bars are printed: not for quick runs, and not in the form of the page.
    pub is_judged: bool,
    pub items: Vec<u32>,
    pub rows: Vec<Measured>,
}

impl Measured {
    /// The sizes with samples.
    fn samples(&self) -> impl Iterator<Item = (u32, &Samples)> {
        self.sizes.iter().filter_map(|(items, found)| match found {
            Found::Samples(samples) => Some((*items, samples)),
            Found::Skip(_) | Found::Error(_) => None,
        })
    }
}

impl Table {
    /// The table, as Markdown that can be read in a terminal.
    pub fn text(&self) -> String {
        let what = match self.form {
            Form::Honest => "median of real operations, ± half of the distance between the quartiles",
            Form::Page => {
                "mean of all tries, as on the page: in rows that remove or modify only the first try has work to do"
            }
        };
        let sizes =
            self.items.iter().map(|items| figure(f64::from(*items)).trim_end_matches(".00").to_owned());
        let sizes: Vec<String> = sizes.collect();
        let published = format!("published there, JSON file plugin: {}", sizes.join(" / "));
        let mut lines =
            vec![["row".into()].into_iter().chain(sizes).chain(["cost".into(), published]).collect()];
        lines.extend(self.rows.iter().map(|measured| self.line(measured)));
        format!("## {}: {what}\n\n{}{}", self.title, aligned(&lines), self.bars())
    }

    fn line(&self, measured: &Measured) -> Vec<String> {
        let cell = |items: &u32| match measured.sizes.iter().find(|(size, _)| size == items) {
            Some((_, Found::Samples(samples))) => self.cell(samples),
            Some((_, Found::Skip(reason))) => format!("SKIP({reason})"),
            Some((_, Found::Error(_))) | None => "ERR".into(),
        };
        let points: Vec<(f64, f64)> = measured
            .samples()
            .map(|(items, samples)| (f64::from(items), self.form.figure(samples)))
            .collect();
        let cost = Cost::fit(&points).map_or(String::new(), |cost| cost.to_string());
        let published: Vec<String> = self
            .items
            .iter()
            .map(|items| measured.row.published_ns(*items).map_or("-".into(), time))
            .collect();
        let cells = self.items.iter().map(cell);
        [measured.row.name.to_owned()].into_iter().chain(cells).chain([cost, published.join(" / ")]).collect()
    }

    fn cell(&self, samples: &Samples) -> String {
        let figure = time(self.form.figure(samples));
        match self.form {
            Form::Honest => format!("{figure} ±{:.0} %", 100.0 * samples.spread()),
            Form::Page => figure,
        }
    }

    /// The bars of this target, each with its figure.
    fn bars(&self) -> String {
        let mut text = String::new();
        for measured in &self.rows {
            let row = measured.row;
            let Some(bar) = row.bar.as_ref().filter(|bar| bar.target == self.name && self.is_judged) else {
                continue;
            };
            for (items, samples) in measured.samples() {
                let median = self.form.figure(samples);
                let at = format!("{}, {}", row.name, figure(f64::from(items)).trim_end_matches(".00"));
                let (found, most, holds) = match bar.limit {
                    Limit::Ns(_) if items != JUDGED_ITEMS => continue,
                    Limit::Ns(most) => (time(median), time(most), median <= most),
                    Limit::Syncs(most) => {
                        let Some(sync) = samples.sync_ns() else { continue };
                        let times = median / sync;
                        (
                            format!("{times:.2} durable writes of {}", time(sync)),
                            most.to_string(),
                            times <= most,
                        )
                    }
                };
                let holds = if holds { "holds" } else { "MISSED" };
                text += &format!("- {at}: {found} <= {most}: {holds}\n");
            }
        }
        if text.is_empty() { text } else { format!("\nBars:\n\n{text}") }
    }
}

/// One row at one size.
pub fn json(name: &str, row: &Row, items: u32, form: Form, found: &Found) -> Json {
    let micros = |ns: f64| ns / 1e3;
    let mut json = json!({ "target": name, "row": row.name, "items": items, "form": form.name() });
    match found {
        Found::Skip(reason) => json["skip"] = (*reason).into(),
        Found::Error(error) => json["error"] = error.as_str().into(),
        Found::Samples(samples) => {
            let counts = match form {
                Form::Honest => "medianUs",
                Form::Page => "meanUs",
            };
            json[counts] = micros(form.figure(samples)).into();
            json["quartile1Us"] = micros(samples.quantile(0.25)).into();
            json["quartile3Us"] = micros(samples.quantile(0.75)).into();
            json["samples"] = samples.ns.len().into();
            json["durableWriteUs"] = samples.sync_ns().map(micros).into();
        }
    }
    json["publishedThereUs"] = row.published_ns(items).map(micros).into();
    json
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datastore::row::ROWS;

    fn table(form: Form) -> Table {
        let of = |ns: f64| Found::Samples(Samples { ns: vec![ns; 3], syncs_ns: vec![1e6; 3] });
        let row = |name| ROWS.iter().find(|row| row.name == name).unwrap();
        let modify =
            Measured { row: row("modify an item"), sizes: vec![(1_000, of(1.5e6)), (100_000, of(3e6))] };
        let sizes = vec![(1_000, Found::Skip("no view")), (100_000, Found::Error("no room".into()))];
        let oper = Measured { row: row("get oper tree"), sizes };
        let (is_judged, items) = (form == Form::Honest, vec![1_000, 100_000]);
        Table { name: "embedded", title: "Annals", form, is_judged, items, rows: vec![modify, oper] }
    }

    #[test]
    fn a_table_has_sizes_costs_published_figures_and_bars() {
        let text = table(Form::Honest).text();
        let cells = |name: &str| -> Vec<String> {
            let line = text.lines().find(|line| line.starts_with(&format!("| {name}"))).unwrap();
            line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
        };
        let published = "published there, JSON file plugin: 1,000 / 100,000";
        assert_eq!(cells("row"), ["row", "1,000", "100,000", "cost", published]);
        let cost = "constant 1.48 ms + 15.2 ns per item";
        assert_eq!(
            cells("modify"),
            ["modify an item", "1.50 ms ±0 %", "3.00 ms ±0 %", cost, "1.40 ms / 162 ms"]
        );
        assert_eq!(cells("get oper"), ["get oper tree", "SKIP(no view)", "ERR", "", "3.30 ms / 414 ms"]);
        assert!(
            text.contains("- modify an item, 1,000: 1.50 durable writes of 1.00 ms <= 2: holds\n"),
            "{text}"
        );
        assert!(text.contains("- modify an item, 100,000: 3.00 durable writes of 1.00 ms <= 2: MISSED\n"));
        let page = table(Form::Page).text();
        assert!(page.contains("| 1.50 ms ") && !page.contains('±') && !page.contains("Bars:"), "{page}");
    }

    #[test]
    fn an_object_has_units_in_its_names() {
        let measured = &table(Form::Page).rows[0];
        let expected = json!({
            "target": "embedded", "row": "modify an item", "items": 1_000, "form": "page", "meanUs": 1_500.0,
            "quartile1Us": 1_500.0, "quartile3Us": 1_500.0, "samples": 3, "durableWriteUs": 1_000.0,
            "publishedThereUs": 1_398.0,
        });
        assert_eq!(json("embedded", measured.row, 1_000, Form::Page, &measured.sizes[0].1), expected);
        let skipped = json("http", measured.row, 7, Form::Honest, &Found::Skip("no"));
        let expected = json!({
            "target": "http", "row": "modify an item", "items": 7, "form": "honest", "skip": "no",
            "publishedThereUs": null,
        });
        assert_eq!(skipped, expected);
    }
}
