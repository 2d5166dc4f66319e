//! Each file of a page agrees with itself: widths, numbers, marks and totals.

use crate::published::page::{Cell, Column, Figure, Page, Table, Totals, page, pages};

/// The numbers in a text as pages print them: `10,000`, `50K+`, `1.25 million`, `1600-1900tps`; `00:06:02` is in seconds.
fn numbers(text: &str) -> Vec<f64> {
    let clock: Vec<Option<f64>> = text.split(':').map(|part| part.parse().ok()).collect();
    if let [Some(hours), Some(minutes), Some(seconds)] = clock[..] {
        return vec![hours * 3600.0 + minutes * 60.0 + seconds];
    }
    let is_part = |letter: char| letter.is_ascii_digit() || letter == ',' || letter == '.';
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(|letter: char| letter.is_ascii_digit()) {
        rest = &rest[start..];
        let end = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
        let digits = rest[..end].trim_end_matches([',', '.']).replace(',', "");
        rest = &rest[end..];
        let times = match rest {
            rest if rest.starts_with('K') => 1e3,
            rest if rest.starts_with('M') && !rest.starts_with("Mb") => 1e6,
            rest if rest.starts_with(" million") => 1e6,
            _ => 1.0,
        };
        found.push(digits.parse::<f64>().expect("digits are a number") * times);
    }
    found
}

/// All figures of the facts and in the text.
fn figures(page: &Page) -> impl Iterator<Item = &Figure> {
    let facts = page.environment.iter().flat_map(|fact| &fact.figures);
    facts.chain(page.sections.iter().flat_map(|section| &section.figures))
}

fn totals(page: &Page) -> Totals {
    let mut totals = Totals { figures: figures(page).count(), ..Totals::default() };
    totals.charts = page.charts().count();
    for table in page.tables() {
        totals.tables += 1;
        totals.rows += table.rows.len();
        for cell in table.rows.iter().flatten() {
            totals.cells += 1;
            match cell.value {
                Some(_) => totals.numbers += 1,
                None if table.marks.contains_key(&cell.text) => totals.marks += 1,
                None => totals.words += 1,
            }
        }
    }
    totals
}

fn check_cell(table: &Table, column: &Column, cell: &Cell) {
    let place = format!("{}, column {:?}: {cell:?}", table.name, column.text);
    match cell.value {
        Some(value) => {
            assert_eq!(numbers(&cell.text), [value], "{place}");
            assert_eq!(cell.unit, column.unit, "{place}");
        }
        None => {
            assert!(cell.unit.is_none(), "{place}");
            let is_explained = column.unit.is_none() || table.marks.contains_key(&cell.text);
            assert!(is_explained, "a column of numbers has only numbers and marks: {place}");
        }
    }
}

#[test]
fn rows_are_as_wide_as_their_table_and_values_are_what_is_printed() {
    for table in pages().iter().flat_map(Page::tables) {
        assert!(table.row_heads < table.columns.len() && !table.rows.is_empty(), "{}", table.name);
        for row in &table.rows {
            assert_eq!(row.len(), table.columns.len(), "{}: {row:?}", table.name);
            table.columns.iter().zip(row).for_each(|(column, cell)| check_cell(table, column, cell));
        }
        for mark in table.marks.keys() {
            let is_there = table.rows.iter().flatten().any(|cell| cell.text == *mark);
            assert!(is_there, "{}: the mark {mark:?} is in no cell", table.name);
        }
    }
}

#[test]
fn figures_in_the_text_have_the_value_that_is_printed() {
    for figure in pages().iter().flat_map(figures) {
        let Some(value) = figure.value else {
            assert!(figure.unit.is_none() && figure.to.is_none(), "{figure:?}");
            continue;
        };
        let expected: Vec<f64> = [value].into_iter().chain(figure.to).collect();
        assert_eq!(numbers(&figure.text), expected, "{figure:?}");
        assert!(figure.unit.is_some(), "{figure:?}");
    }
}

#[test]
fn totals_of_each_page_are_those_that_its_file_states() {
    let names: Vec<&str> = pages().iter().map(|page| page.name.as_str()).collect();
    assert_eq!(
        names,
        ["metadata-repository", "datastore-plugins", "graph-server", "embedded-graph", "many-members"]
    );
    for page in pages() {
        assert_eq!(totals(page), page.totals, "{}", page.name);
    }
}

#[test]
fn names_are_there_once_and_references_lead_somewhere() {
    for page in pages() {
        let mut names: Vec<&String> = page.tables().map(|table| &table.name).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count, "{}", page.name);
    }
    // A cell "..." repeats the profile above it.
    for table in page("metadata-repository").tables() {
        let mut profile = "";
        for row in &table.rows {
            if row[0].text != "..." {
                profile = &row[0].text;
            }
            assert_eq!(row[0].name(), profile);
        }
    }
    let members = page("many-members");
    let machine =
        |cell: &Cell| members.environment.iter().any(|fact| fact.what == format!("Instance {}", cell.text));
    for table in members.tables() {
        let place = table.column("Environment").unwrap();
        assert!(table.rows.iter().all(|row| machine(&row[place])), "{}", table.name);
    }
}

/// `1.829 x` in red says how much slower a plugin is than the first one: the page's ratios are those of its times.
#[test]
fn comparisons_are_the_ratios_of_the_times_beside_them() {
    let page = page("datastore-plugins");
    for items in ["1000", "10000", "100000"] {
        let first = page.table(&format!("json-{items}")).unwrap();
        for plugin in ["mongo", "redis"] {
            let table = page.table(&format!("{plugin}-{items}")).unwrap();
            for (row, first) in table.rows.iter().zip(&first.rows) {
                let [time, first] = [row, first].map(|row| row[1].value.unwrap());
                let is_slower = row[2].meaning == "slower";
                assert_eq!(is_slower, time > first, "{}: {row:?}", table.name);
                let ratio = if is_slower { time / first } else { first / time };
                // The page cuts ratios off, and takes them of times with microseconds.
                let error = ratio * 0.5e-6 * (1.0 / time + 1.0 / first) + 0.001;
                assert!((row[2].value.unwrap() - ratio).abs() <= error, "{}: {ratio} {row:?}", table.name);
            }
        }
    }
}

#[test]
fn numbers_are_read_as_pages_print_them() {
    let texts = [
        "10,000",
        "50K+",
        "1.25 million",
        "1600-1900tps",
        "00:06:02",
        "10000Mbps",
        "0.001854 s",
        "DNF",
        "10M",
    ];
    let expected: [&[f64]; 9] =
        [&[1e4], &[5e4], &[1.25e6], &[1600.0, 1900.0], &[362.0], &[1e4], &[0.001854], &[], &[1e7]];
    assert_eq!(texts.map(numbers), expected.map(<[f64]>::to_vec));
}
