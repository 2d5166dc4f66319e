//! Files on the command line: stored, printed, re-read, kept in backups.

use crate::support::Place;

#[test]
fn a_file_is_stored_with_an_entity_and_comes_back_as_it_was() {
    let place = Place::new();
    place.write("scan.txt", "the scan\n");
    place.write("better.txt", "a better scan\n");
    let refused = place.run(&["put", "page-1", "scan.txt"]);
    assert!(refused.err.contains("give --type"), "{}", refused.err);
    place.ok(&["put", "page-1", "scan.txt", "--type", "page", "--media-type", "text/plain"]);
    assert_eq!(place.ok(&["cat", "page-1"]), "the scan\n");
    let shown = place.ok(&["get", "page-1"]);
    assert!(shown.contains("text/plain") && shown.contains("scan.txt"), "{shown}");
    place.ok(&["put", "page-1", "better.txt"]);
    assert_eq!(place.ok(&["cat", "page-1"]), "a better scan\n");
    assert_eq!(place.ok(&["cat", "page-1", "--at-position", "1"]), "the scan\n");
    place.ok(&["put", "page-1", "scan.txt", "--property", "raw"]);
    assert_eq!(place.ok(&["cat", "page-1", "--property", "raw"]), "the scan\n");
    let none = place.run(&["cat", "page-1", "--property", "type"]);
    assert_eq!((none.code, none.err.contains("expected a content")), (3, true), "{}", none.err);
    place.ok(&["put", "/library/page-2/scan", "scan.txt", "--content"]);
    assert_eq!(place.ok(&["cat", "/library/page-2/scan"]), "the scan\n");
    assert_eq!(place.run(&["put", "page-1", "."]).code, 1, "a folder is no file");
}

#[test]
fn fixity_and_check_tell_damaged_files_and_a_backup_has_them() {
    let place = Place::new();
    place.write("scan.txt", "the scan\n");
    place.ok(&["put", "page-1", "scan.txt", "--type", "page"]);
    let all = place.ok(&["fixity"]);
    assert!(all.contains("read 1 content, 9 bytes") && all.contains("all are as they were stored"), "{all}");
    let told = place.ok(&["backup", "copy"]);
    assert!(told.contains("with 1 content, 9 B"), "{told}");
    let stored =
        std::fs::read_dir(place.path("annals-data/content")).unwrap().next().unwrap().unwrap().path();
    std::fs::write(&stored, "THE scan\n").unwrap();
    let damaged = place.run(&["fixity"]);
    assert_eq!(damaged.code, 5);
    assert!(damaged.out.contains("entity page-1"), "{}", damaged.out);
    std::fs::remove_file(&stored).unwrap();
    let missing = place.run(&["check"]);
    assert_eq!(missing.code, 5);
    assert!(missing.out.contains("found none; restore it from a backup (entity page-1)"), "{}", missing.out);
    assert_eq!(place.run(&["cat", "page-1"]).code, 5);
    place.ok(&["restore", "copy", "restored"]);
}
