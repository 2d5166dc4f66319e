//! The harness from outside: runs, resumes, refuses, and reports.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::Value;

const ADAPTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/adapter.py");

fn lab(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_annals-lab")).args(arguments).current_dir(folder).output().unwrap()
}

/// The folder of the run that a command printed.
fn run(folder: &Path, arguments: &[&str]) -> PathBuf {
    let output = lab(folder, arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    folder.join(String::from_utf8(output.stdout).unwrap().lines().last().expect("a folder"))
}

fn records(run: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(run.join("records.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Records of a kind, without their figures: target, part or row, and outcome or state.
fn of_kind<'r>(records: &'r [Value], kind: &str, fields: [&str; 3]) -> Vec<[&'r str; 3]> {
    let found = records.iter().filter(|record| record["kind"] == kind);
    found.map(|record| fields.map(|field| record[field].as_str().unwrap_or("-"))).collect()
}

#[test]
fn a_quick_run_measures_every_part_of_every_target_and_makes_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let arguments = ["run", "threads", "--quick", "--target", "annals,null", "--volume", "1,10"];
    let found = records(&run(path, &arguments));
    let mut cells = of_kind(&found, "cell", ["target", "part", "outcome"]);
    cells.sort_unstable();
    let expected: Vec<[&str; 3]> = ["annals", "null"]
        .iter()
        .flat_map(|target| {
            ["commits", "history", "reads", "syncs", "whole"].map(|part| [*target, part, "ok"])
        })
        .collect();
    assert_eq!(cells, expected);
    let counted = found.iter().find(|record| record["kind"] == "target" && record["target"] == "annals");
    let syncs = &counted.expect("Annals introduces itself")["syncs"];
    let traced = Command::new("strace").args(["-qq", "-o", "/dev/null", "true"]).status();
    if traced.expect("strace is installed").success() {
        let [commits, calls] = ["commits", "syncs"].map(|name| syncs[name].as_u64().unwrap());
        assert!(commits > 0 && calls >= commits, "each commit of a lone thread is synced: {syncs}");
    } else {
        assert!(syncs.is_null(), "nothing was counted: {syncs}");
    }

    let output = lab(path, &["report"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let page = std::fs::read_to_string(path.join("lab-data/report/threads.md")).unwrap();
    let output = lab(path, &["report", "--markdown", "--plot", "nothing", "--out", "other"]);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && errors.contains("plot \"nothing\": no page has it"), "{errors}");
    let short = std::fs::read_to_string(path.join("other/threads.md")).unwrap();
    for (page, volumes) in [(&page, 2), (&short, 1)] {
        let percentiles = page
            .lines()
            .filter(|line| line.starts_with("| Commits of 1 vertex") && line.contains("| Annals, files |"));
        assert_eq!(percentiles.count(), volumes, "{page}");
    }
    for heading in
        ["Distrust", "Figures", "Latencies", "Cost", "Systems", "Environment", "Limits of the comparison"]
    {
        assert!(page.contains(&format!("\n## {heading}\n")), "{heading}");
    }
    assert!(page.contains("\n| two-hops") || page.contains("Two hops from a vertex"), "{page}");
    let mut runs = std::fs::read_dir(path.join("lab-data")).unwrap().map(|entry| entry.unwrap().path());
    let run = runs.find(|path| path.join("run.json").exists()).expect("the run");
    let output = lab(path, &["report", run.to_str().unwrap(), run.to_str().unwrap()]);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && errors.contains("a second run of threads"), "{errors}");
    let csv = std::fs::read_to_string(path.join("lab-data/report/threads.csv")).unwrap();
    assert!(csv.lines().any(|line| line.starts_with("commit,commits/s,10,annals,")), "{csv}");
}

#[test]
fn an_adapter_of_ones_own_is_measured_beside_annals_and_a_run_that_was_broken_off_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let adapter = format!("mine=python3 {ADAPTER}");
    let common = ["--quick", "--adapter", &adapter];
    let arguments = [&["run", "threads", "--target", "annals", "--volume", "2"], &common[..]].concat();
    let whole = run(path, &arguments);
    let found = records(&whole);
    let figures = of_kind(&found, "figure", ["target", "row", "state"]);
    for row in ["commit", "chain"] {
        assert!(figures.contains(&["mine", row, "-"]), "{figures:?}");
    }
    let failed: Vec<_> = of_kind(&found, "cell", ["target", "part", "outcome"])
        .into_iter()
        .filter(|cell| cell[2] != "ok")
        .collect();
    assert_eq!(failed, Vec::<[&str; 3]>::new());
    // As if the run had been killed in the middle of writing a record, after a figure of a cell without its end.
    let lines: Vec<String> = found.iter().map(Value::to_string).collect();
    let middle = found.iter().position(|record| record["kind"] == "figure").unwrap() + 1;
    let cut = format!("{}\n{}", lines[..middle].join("\n"), &lines[middle][..lines[middle].len() / 2]);
    std::fs::write(whole.join("records.jsonl"), cut).unwrap();
    let again = [&["run", "threads", "--resume", whole.to_str().unwrap()], &common[1..]].concat();
    assert_eq!(run(path, &again), whole);
    let text = std::fs::read_to_string(whole.join("run.json")).unwrap();
    assert!(text.contains("the run went on at "), "{text}");
    let cells = |records: &[Value]| {
        let mut cells: Vec<String> = of_kind(records, "cell", ["target", "part", "outcome"])
            .iter()
            .map(|cell| cell.join(" "))
            .collect();
        cells.sort_unstable();
        cells
    };
    let resumed = records(&whole);
    assert_eq!(cells(&resumed), cells(&found));
    let count = |records: &[Value]| records.iter().filter(|record| record["kind"] == "figure").count();
    assert_eq!(count(&resumed), count(&found), "no figure is there twice or missing");
    let before = std::fs::read_to_string(whole.join("run.json")).unwrap();
    let output = lab(path, &again);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && errors.contains("nothing is left to measure"), "{errors}");
    let after = std::fs::read_to_string(whole.join("run.json")).unwrap();
    assert_eq!(after, before, "a refusal changes nothing");
    let output = lab(path, &["compare", whole.to_str().unwrap(), whole.to_str().unwrap()]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && text.contains("no difference"), "{text}");
}

#[test]
fn wrong_answers_crashes_and_babble_are_results() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let adapters = [
        // Says that a chain is longer than its commits.
        (
            "wrong",
            r#"case "$line" in *open*) echo '{"version":"1","durability":"memory","settings":{}}';; *commits*) echo '{"operations":5,"seconds":1,"ticks":[5],"latencies_ns":[[1000,5]]}';; *chains*) echo '{"operations":12,"seconds":1,"ticks":[12],"latencies_ns":[[1000,1]],"steps":[6]}';; *close*) echo '{}';; *) echo '{"skip":"no"}';; esac"#,
        ),
        ("dies", "exit 7"),
        ("babbles", "echo hello"),
    ];
    for (name, text) in adapters {
        let script = path.join(format!("{name}.sh"));
        std::fs::write(&script, format!("while read -r line; do {text}; done\n")).unwrap();
        let adapter = format!("{name}=sh {}", script.display());
        let arguments =
            ["run", "threads", "--quick", "--target", name, "--volume", "1", "--adapter", &adapter];
        let found = records(&run(path, &arguments));
        let states: Vec<String> = of_kind(&found, "cell", ["target", "part", "outcome"])
            .iter()
            .chain(&of_kind(&found, "figure", ["target", "row", "state"]))
            .map(|found| found[2].to_owned())
            .collect();
        let expected = match name {
            "wrong" => "vertices of all chains: wrong answer: expected 5, found 7",
            "dies" => "the adapter ended, exit status: 7",
            _ => "answered \"hello\"",
        };
        assert!(
            states.iter().any(|state| state.starts_with("ERR(") && state.contains(expected)),
            "{name}: {states:?}"
        );
        if name == "wrong" {
            let parts = of_kind(&found, "cell", ["part", "outcome", "target"]);
            assert!(
                !parts.iter().any(|part| part[0] == "whole"),
                "a wrong answer ends the target: {parts:?}"
            );
        }
        // The runs of one second have one name.
        std::fs::remove_dir_all(path.join("lab-data")).unwrap();
    }
}

#[test]
fn a_row_that_fails_has_the_error_and_the_rows_after_it_name_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let commits = r#"{"operations":5,"seconds":1,"ticks":[5],"latencies_ns":[[1000,5]]}"#;
    let malformed = r#"{"operations":5,"seconds":1,"ticks":[5],"histogram":"HISTFAAA"}"#;
    let after = |row: &str| format!("SKIP({row} failed at 10)");
    for (name, answer, expected) in [
        ("walks", commits, ["-", "torn", &after("chain")]),
        ("counts", malformed, ["histogram: ", &after("commit"), &after("commit")]),
    ] {
        let script = path.join(format!("{name}.sh"));
        let text = format!(
            r#"while read -r line; do case "$line" in *open*) echo '{{"version":"1","durability":"memory","settings":{{}}}}';; *commits*) echo '{answer}';; *chains*) echo '{{"error":"torn"}}';; *close*) echo '{{}}';; *) echo '{{"skip":"no"}}';; esac; done"#
        );
        std::fs::write(&script, text).unwrap();
        let adapter = format!("{name}=sh {}", script.display());
        let common = ["--quick", "--part", "commits", "--volume", "10", "--adapter", &adapter];
        let found = records(&run(path, &[&["run", "threads", "--target", name], &common[..]].concat()));
        let figures = of_kind(&found, "figure", ["row", "state", "volume"]);
        let mut rows: Vec<&str> = figures.iter().map(|figure| figure[0]).collect();
        rows.sort_unstable();
        assert_eq!(rows, ["chain", "commit", "commit-25", "commit-50", "commit-75", "commit-90"], "{name}");
        for (row, expected) in ["commit", "chain", "commit-75"].into_iter().zip(expected) {
            let state = figures.iter().find(|figure| figure[0] == row).expect("the row is there")[1];
            assert!(state.contains(expected), "{name}: {row}: {state}");
        }
        let output = lab(path, &["report"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        // The runs of one second have one name.
        std::fs::remove_dir_all(path.join("lab-data")).unwrap();
    }
}

#[test]
fn a_number_of_threads_that_fails_leaves_the_next_one_a_new_process_and_new_folders() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let script = path.join("one.sh");
    // Dies when one thread commits.
    let text = r#"while read -r line; do case "$line" in
*open*) echo '{"version":"1","durability":"memory","settings":{}}';;
*commits*'"threads":1}'*) exit 7;;
*commits*) echo '{"operations":5,"seconds":1,"ticks":[5],"latencies_ns":[[1000,5]]}';;
*close*) echo '{}';;
*) echo '{"skip":"no"}';;
esac; done"#;
    std::fs::write(&script, text).unwrap();
    let adapter = format!("one=sh {}", script.display());
    let arguments = ["run", "threads", "--quick", "--part", "commits", "--volume", "1,10", "--target", "one"];
    let found = records(&run(path, &[&arguments[..], &["--adapter", &adapter]].concat()));
    let commits: Vec<_> = of_kind(&found, "figure", ["row", "volume", "state"])
        .into_iter()
        .filter(|[row, ..]| *row == "commit")
        .map(|[_, volume, state]| (volume, state))
        .collect();
    assert_eq!(commits.len(), 2, "{commits:?}");
    assert!(
        commits[0].0 == "1" && commits[0].1.starts_with("ERR(the adapter ended, exit status: 7"),
        "{commits:?}"
    );
    assert_eq!(commits[1], ("10", "-"));
}

#[test]
fn a_cell_ends_with_the_run_that_was_killed() {
    let folder = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    // It says who it is, and never answers.
    let adapter = format!("mute=echo $$ > {}; sleep 100 & wait", pid.display());
    let arguments =
        ["run", "threads", "--quick", "--target", "mute", "--part", "history", "--adapter", &adapter];
    let mut run = Command::new(env!("CARGO_BIN_EXE_annals-lab"));
    let mut run = run.args(arguments).current_dir(folder.path()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    let number = loop {
        let text = std::fs::read_to_string(&pid).unwrap_or_default();
        if text.ends_with('\n') {
            break text.trim().to_owned();
        }
        assert!(Instant::now() < deadline, "the adapter was not started");
        std::thread::sleep(Duration::from_millis(20));
    };
    run.kill().unwrap();
    run.wait().unwrap();
    let lives =
        || std::fs::read_to_string(format!("/proc/{number}/stat")).is_ok_and(|text| !text.contains(") Z "));
    while lives() {
        assert!(Instant::now() < deadline, "the adapter {number} outlives the run");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn rows_that_are_chosen_are_measured_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let common = ["--quick", "--target", "annals", "--row"];
    for (suite, row) in [("datastore", "get item"), ("methods", "entity-creation-add-entity")] {
        let run = run(path, &[&["run", suite], &common[..], &[row]].concat());
        let found = records(&run);
        let rows: Vec<_> = of_kind(&found, "figure", ["row", "state", "volume"]);
        assert!(!rows.is_empty() && rows.iter().all(|figure| figure[..2] == [row, "-"]), "{rows:?}");
        assert_eq!(of_kind(&found, "cell", ["target", "outcome", "part"])[0][1], "ok");
        let text = std::fs::read_to_string(run.join("run.json")).unwrap();
        let told: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(told["parts"][0]["rows"], serde_json::json!([row]));
    }
}

#[test]
fn a_url_as_adapter_is_a_server_that_runs() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--quick", "--target", "mine", "--row", "n-uris load", "--adapter"];
    let adapter = ["mine=http://127.0.0.1:1/x"];
    let found = records(&run(folder.path(), &[&["run", "members"], &arguments[..], &adapter].concat()));
    let states = of_kind(&found, "figure", ["row", "target", "state"]);
    let expected = "ERR(PUT http://127.0.0.1:1/x/";
    assert!(states.len() == 1 && states[0][2].starts_with(expected), "{states:?}");
}

#[test]
fn a_gate_without_figures_does_not_open() {
    let folder = tempfile::tempdir().unwrap();
    let base = env!("CARGO_BIN_EXE_annals-lab");
    let arguments = ["gate", "threads", "--base", base, "--part", "syncs", "--repeat", "2", "--quick"];
    let output = lab(folder.path(), &arguments);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && errors.contains("expected figures to compare"), "{errors}");
}

#[test]
fn what_cannot_be_run_is_refused_with_what_can() {
    let folder = tempfile::tempdir().unwrap();
    let cases: [(&[&str], &str); 18] = [
        (&["datastore", "--quick"], "`annals-lab run datastore` measures it"),
        (&["methods"], "`annals-lab run methods` measures it"),
        (&["oracle"], "no command has this name"),
        (&["run", "datastore", "--row", "get three"], "expected how one of these begins: get tree, get item"),
        (&["run", "nothing"], "expected one of threads"),
        (&["run", "threads", "--target", "oracle"], "expected one of annals"),
        (&["run", "limits", "--target", "limit"], "is measured in turn with annals"),
        (
            &["run", "threads", "--target", "annals,null", "--subject", "null"],
            "--subject null: expected a form of Annals among the targets: annals",
        ),
        (&["report", "--index"], "--markdown"),
        (&["run", "threads", "--part", "none"], "has no part \"none\""),
        (&["run", "threads", "--volume", "0"], "expected 1 to 10000 threads"),
        (&["run", "methods", "--volume", "5"], "such as 0005-02"),
        (&["run", "datastore", "--volume", "1"], "items"),
        (&["run", "members", "--volume", "0"], "expected 1 to 1000000 items"),
        (&["run", "limits", "--volume", "1,101"], "volume \"101\": expected 1 to 100 times the size"),
        (&["run", "threads", "--budget", "ten"], "expected a time such as 90s"),
        (&["report"], "lab-data"),
        (&["install", "oracle"], "no target has this name"),
    ];
    for (arguments, expected) in cases {
        let output = lab(folder.path(), arguments);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && errors.contains(expected), "{arguments:?}: {errors}");
    }
}
