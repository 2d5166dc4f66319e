//! Runs every script on a small server.

mod small_server;

use std::time::Duration;

use super::measure::{Plan, measure};
use super::script::{SCRIPTS, Script, Wording};
use crate::run::Place;
use small_server::{Manner, SmallServer};

fn plan(items: usize) -> Plan {
    Plan { items, binary_bytes: 100, connections: 3, tries: 2, load_time_max: Duration::from_secs(60) }
}

#[test]
fn every_script_counts_its_items_on_a_small_server() {
    let folder = tempfile::tempdir().unwrap();
    for script in SCRIPTS {
        let server = SmallServer::start(Manner::default());
        let place = Place::parse(&format!("http://{}/r", server.address)).unwrap();
        let figures = measure(script, Wording::Page, &place, plan(25), folder.path())
            .unwrap_or_else(|error| panic!("{}: {error}", script.name()));
        assert_eq!(figures.found, 25, "{}", script.name());
    }
}

#[test]
fn an_item_that_the_server_loses_is_a_wrong_count() {
    let folder = tempfile::tempdir().unwrap();
    let server = SmallServer::start(Manner { lost: 7, ..Manner::default() });
    let place = Place::parse(&format!("http://{}/r", server.address)).unwrap();
    let error =
        measure(Script::Uris, Wording::Page, &place, plan(25), folder.path()).unwrap_err().to_string();
    assert_eq!(error, "lines with \"relation\": wrong answer: expected 25, found 24");
}

// Fedora's Jetty closes a connection that was idle for 30 s, and a load of 1,000 objects takes longer.
#[test]
fn a_connection_that_was_idle_during_the_load_is_not_used_again() {
    let folder = tempfile::tempdir().unwrap();
    let server = SmallServer::start(Manner { idle_max: 50, ..Manner::default() });
    let place = Place::parse(&format!("http://{}/r", server.address)).unwrap();
    let plan = Plan { connections: 1, ..plan(25) };
    let figures = measure(Script::MemberOf, Wording::Page, &place, plan, folder.path()).unwrap();
    assert_eq!(figures.found, 25);
}

#[test]
fn a_refusal_is_told_with_its_status_and_its_text() {
    let folder = tempfile::tempdir().unwrap();
    let server = SmallServer::start(Manner::default());
    let place = Place::parse(&format!("http://{}/refused", server.address)).unwrap();
    let error =
        measure(Script::Children, Wording::Page, &place, plan(2), folder.path()).unwrap_err().to_string();
    assert!(error.contains("expected 2xx, found 409: not here"), "{error}");
}

#[test]
fn a_server_that_refuses_what_fedora_6_refuses_passes_with_its_wording_only() {
    let folder = tempfile::tempdir().unwrap();
    let run = |script, wording| {
        let server = SmallServer::start(Manner { is_fedora6: true, ..Manner::default() });
        let place = Place::parse(&format!("http://{}/r", server.address)).unwrap();
        measure(script, wording, &place, plan(25), folder.path())
    };
    for script in SCRIPTS {
        let figures =
            run(script, Wording::Fedora6).unwrap_or_else(|error| panic!("{}: {error}", script.name()));
        assert_eq!(figures.found, 25, "{}", script.name());
    }
    let told = |script| run(script, Wording::Page).unwrap_err().to_string();
    assert!(told(Script::Members).contains("/members: expected 2xx, found 409"), "{}", told(Script::Members));
    assert!(
        told(Script::MemberOf).contains("/objects: expected 2xx, found 415"),
        "{}",
        told(Script::MemberOf)
    );
}
