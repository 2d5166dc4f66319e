//! Runs every script on a small server.

mod small_server;

use super::*;
use small_server::SmallServer;

fn plan(items: usize) -> Plan {
    Plan { items, connections: 3, tries: 2, load_time_max: Duration::from_secs(60) }
}

#[test]
fn every_script_counts_its_items_on_a_small_server() {
    let folder = tempfile::tempdir().unwrap();
    for script in SCRIPTS {
        let server = SmallServer::start(0);
        let place = Place::parse(&format!("http://{}/r", server.address)).unwrap();
        let figures = on_server(script, &place, plan(25), 100, folder.path())
            .unwrap_or_else(|error| panic!("{}: {error}", script.name()));
        assert_eq!((figures.found, figures.requests), (25, 25 * script.requests()), "{}", script.name());
    }
}

#[test]
fn an_item_that_the_server_loses_is_a_wrong_count() {
    let folder = tempfile::tempdir().unwrap();
    let server = SmallServer::start(7);
    let place = Place::parse(&format!("http://{}/r", server.address)).unwrap();
    let error = on_server(Script::Uris, &place, plan(25), 100, folder.path()).unwrap_err().to_string();
    assert_eq!(error, "lines with \"relation\": expected 25, found 24");
}

#[test]
fn a_refusal_is_told_with_its_status_and_its_text() {
    let folder = tempfile::tempdir().unwrap();
    let server = SmallServer::start(0);
    let place = Place::parse(&format!("http://{}/refused", server.address)).unwrap();
    let error = on_server(Script::Children, &place, plan(2), 100, folder.path()).unwrap_err().to_string();
    assert!(error.contains("expected 2xx, found 409: not here"), "{error}");
}
