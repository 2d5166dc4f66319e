//! The statistics of the lab give the figures of the first page from its raw samples.

use crate::graph::Random;
use crate::published::interval::median_interval;
use crate::published::page::page;
use crate::published::samples::{run, runs};
use crate::run::{bootstrap, quantile};

#[test]
fn medians_of_the_raw_samples_are_the_cells_of_the_page() {
    let (mut cells, mut numbers) = (0, 0);
    for table in page("metadata-repository").tables() {
        for run in runs() {
            let labels = [("repository", run.repository), ("volume", run.volume)];
            let Some(column) = table.column_with(&labels) else { continue };
            for row in &table.rows {
                let calls = run.calls(row[0].name(), &row[1].text);
                let median = calls.map(|calls| quantile(&calls.sorted_ms, 0.5));
                let place = format!("{}, {} {}: {row:?}", table.name, run.repository, run.volume);
                assert_eq!(median, row[column].value, "{place}");
                assert_eq!(median.is_none(), row[column].text == "--", "{place}");
                cells += 1;
                numbers += usize::from(median.is_some());
            }
        }
    }
    assert_eq!((cells, numbers), (616, 548));
}

#[test]
fn runs_have_as_many_samples_as_the_project_kept() {
    let counts: Vec<usize> =
        runs().iter().map(|run| run.calls.iter().map(|calls| calls.sorted_ms.len()).sum()).collect();
    assert_eq!(counts, [81_550, 136_634, 249_243, 418_218, 48_598, 79_631, 144_684]);
}

#[test]
fn an_interval_contains_its_median_and_narrows_as_samples_grow() {
    for calls in runs().iter().flat_map(|run| &run.calls) {
        let [low, high] = median_interval(&calls.sorted_ms);
        let median = quantile(&calls.sorted_ms, 0.5);
        assert!(low <= median && median <= high, "{}: {low} {median} {high}", calls.method);
        assert!(calls.sorted_ms.contains(&low) && calls.sorted_ms.contains(&high));
    }
    let calls = run("XTDB", "0005-02").unwrap().calls("Entity search", "findEntities").unwrap();
    let width = |every: usize| {
        let some: Vec<f64> = calls.sorted_ms.iter().copied().step_by(every).collect();
        let [low, high] = median_interval(&some);
        high - low
    };
    assert!(width(1) <= width(40) && width(40) <= width(400) && width(1) < width(400));
}

/// The drawn interval wavers by a value or so from seed to seed; the computed one is where it tends to.
#[test]
fn a_computed_interval_is_that_of_drawn_medians() {
    let run = run("XTDB", "0005-02").unwrap();
    let few = run.calls.iter().filter(|calls| calls.sorted_ms.len() <= 600);
    let mut count = 0;
    for calls in few {
        let values = &calls.sorted_ms;
        let drawn = bootstrap(|random: &mut Random| {
            let mut drawn: Vec<f64> = values.iter().map(|_| values[random.below(values.len())]).collect();
            drawn.sort_by(f64::total_cmp);
            quantile(&drawn, 0.5)
        });
        let computed = median_interval(values);
        let place = |value: f64| values.partition_point(|other| *other < value);
        for (drawn, computed) in drawn.into_iter().zip(computed) {
            let apart = place(drawn).abs_diff(place(computed));
            let most = 1 + values.len() / 40;
            let is_near = (drawn - computed).abs() <= 1.0 || apart <= most;
            assert!(is_near, "{} {}: drawn {drawn}, computed {computed}", calls.profile, calls.method);
        }
        count += 1;
    }
    assert!(count >= 10, "{count}");
}

#[test]
fn intervals_of_few_values_are_known() {
    // Of two values the upper one counts: it is missing from a quarter of the draws.
    assert_eq!(median_interval(&[1.0]), [1.0, 1.0]);
    assert_eq!(median_interval(&[1.0, 2.0]), [1.0, 2.0]);
    // Two or three draws of three are the first value in 7 of 27 draws.
    assert_eq!(median_interval(&[1.0, 2.0, 3.0]), [1.0, 3.0]);
    // Of 99 equal chances, places 40 and 60: 1.96 standard deviations of 5 around the middle.
    let many: Vec<f64> = (1..=99).map(f64::from).collect();
    assert_eq!(median_interval(&many), [40.0, 60.0]);
}
