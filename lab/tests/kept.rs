//! Kept runs: a page beside the sources can always be written again, by the lab of today.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const LAB: &str = env!("CARGO_MANIFEST_DIR");
const BYTES_MAX: u64 = 1 << 20;

fn lab(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_annals-lab")).args(arguments).current_dir(folder).output().unwrap()
}

fn done(folder: &Path, arguments: &[&str]) -> String {
    let output = lab(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn refused(folder: &Path, arguments: &[&str]) -> String {
    let output = lab(folder, arguments);
    assert!(!output.status.success(), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// The plots that a page shows.
fn plots(page: &str) -> Vec<&str> {
    let parts = page.split("](plots/").skip(1);
    parts.map(|part| part.split(".svg)").next().unwrap()).collect()
}

/// The pages and plots that are not as the kept runs of a folder say.
fn stale(runs: &Path, pages: &Path) -> Vec<String> {
    let mut stale = Vec::new();
    let again = tempfile::tempdir().unwrap();
    for run in files(runs).iter().filter(|path| path.to_str().unwrap().ends_with(".jsonl.gz")) {
        assert!(fs::metadata(run).unwrap().len() <= BYTES_MAX, "{}", run.display());
        let name = run.file_name().unwrap().to_str().unwrap().strip_suffix(".jsonl.gz").unwrap();
        let Ok(page) = fs::read_to_string(pages.join(format!("{name}.md"))) else {
            stale.push(format!("{name}.md"));
            continue;
        };
        let mut arguments = vec!["report", "--markdown", run.to_str().unwrap(), "--out", "."];
        arguments.extend(plots(&page).into_iter().flat_map(|name| ["--plot", name]));
        done(again.path(), &arguments);
        let plots = plots(&page).into_iter().map(|name| format!("plots/{name}.svg"));
        for file in std::iter::once(format!("{name}.md")).chain(plots) {
            let [there, now] =
                [pages, again.path()].map(|folder| fs::read_to_string(folder.join(&file)).ok());
            if there != now {
                stale.push(file);
            }
        }
    }
    stale
}

fn files(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn every_page_beside_the_sources_is_as_its_kept_run_says() {
    let results = Path::new(LAB).join("../docs/results");
    let stale = stale(&Path::new(LAB).join("runs"), &results);
    assert!(stale.is_empty(), "write them again by lab/write-pages: {stale:?}");
}

#[test]
fn a_kept_run_is_small_and_its_page_is_that_of_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let arguments =
        ["run", "threads", "--quick", "--part", "commits", "--target", "annals,null", "--volume", "1,10"];
    let run = done(path, &[&arguments[..], &["--repeat", "2"]].concat());
    let run = run.lines().last().unwrap();
    let kept = ["keep", run, "--out", "threads.jsonl.gz"];
    assert!(done(path, &kept).starts_with("threads.jsonl.gz: "));
    let page = |from: &str, out: &str| {
        done(path, &["report", "--markdown", from, "--plot", "threads-commit", "--out", out]);
        ["threads.md", "plots/threads-commit.svg"]
            .map(|file| fs::read_to_string(path.join(out).join(file)).unwrap())
    };
    let [of_run, of_kept] = [page(run, "of-run"), page("threads.jsonl.gz", "of-kept")];
    assert_eq!(of_kept, of_run);
    assert!(stale(path, &path.join("of-run")).is_empty());
    fs::write(path.join("of-run/threads.md"), of_run[0].replacen("Annals", "Anals", 1)).unwrap();
    assert_eq!(stale(path, &path.join("of-run")), ["threads.md"]);

    // Two pages of one suite have names of their own, and so do their plots.
    fs::copy(path.join("threads.jsonl.gz"), path.join("again.jsonl.gz")).unwrap();
    done(
        path,
        &[
            "report",
            "--markdown",
            "threads.jsonl.gz",
            "again.jsonl.gz",
            "--plot",
            "again-commit",
            "--out",
            "both",
        ],
    );
    for file in ["both/threads.md", "both/again.md", "both/plots/again-commit.svg"] {
        assert!(path.join(file).is_file(), "{file}");
    }
    let errors = refused(path, &["run", "threads", "--resume", "threads.jsonl.gz"]);
    assert!(errors.contains("is a kept run; --resume goes on with the folder of a run"), "{errors}");
    let errors = refused(path, &["keep", run, "--out", "threads.gz"]);
    assert!(errors.contains("expected a name that ends in .jsonl.gz"), "{errors}");
    fs::write(path.join("torn.jsonl.gz"), &fs::read(path.join("threads.jsonl.gz")).unwrap()[..200]).unwrap();
    fs::write(path.join("text.jsonl.gz"), "{}").unwrap();
    for name in ["torn.jsonl.gz", "text.jsonl.gz"] {
        let errors = refused(path, &["report", "--markdown", name, "--out", "none"]);
        assert!(errors.contains(&format!("{name}: ")) && !errors.contains("panicked"), "{errors}");
    }
}
