//! The conformance tests of all stores, as public test functions.

#![expect(clippy::expect_used, reason = "tests: a panic is how they fail")]

use std::io::{self, Read, Seek, SeekFrom};

use super::store::Store;

/// Checks a store on the own machine, which must be empty: as [`check_store`], and that it keeps what is open and replaces
/// what may be damaged.
///
/// ```
/// use std::sync::Arc;
///
/// use annals::storage::{DiskStore, RealDisk, conformance};
///
/// let folder = tempfile::tempdir().unwrap();
/// conformance::check_local_store(&DiskStore::new(Arc::new(RealDisk), folder.path().join("objects")));
/// ```
pub fn check_local_store(store: &dyn Store) {
    check_store(store);
    put(store, "a", b"first");
    let mut before = store.open("a").expect("it is there");
    put(store, "a", b"second");
    store.remove(&["a".to_owned()]).expect("removes");
    let mut text = Vec::new();
    before.read_to_end(&mut text).expect("an open object stays readable");
    assert_eq!(text, b"first", "an open object stays as it was");

    assert!(put_named(store, b"four").expect("puts it"), "the object is new");
    assert!(!put_named(store, b"4444").expect("puts it"), "an object of this length was there");
    assert_eq!(read(store, "d"), b"4444", "an object of this length may be damaged");
    store.remove(&["d".to_owned()]).expect("removes");
    assert_eq!(names(store), ["b"]);
}

/// Checks any store, which must be empty. Afterwards it has an object `b`.
pub fn check_store(store: &dyn Store) {
    assert!(store.list().expect("an empty store is listed").is_empty(), "the store under test is empty");
    assert_eq!(
        store.open("a").err().map(|e| e.kind()),
        Some(io::ErrorKind::NotFound),
        "nothing is there yet"
    );
    store.remove(&["a".to_owned()]).expect("removing what is not there is no error");

    put(store, "a", b"first");
    put(store, "b", &vec![7; 3 << 20]);
    assert_eq!(read(store, "a"), b"first");
    assert_eq!(names(store), ["a", "b"]);

    put(store, "a", b"second");
    assert_eq!(read(store, "a"), b"second", "the newest object has the name");

    let failed = store.put("a", &mut |out| {
        out.write_all(&vec![1; 2 << 20])?;
        Err(io::Error::other("the writer gives up"))
    });
    assert!(failed.is_err(), "the error of the writer is told");
    let failed = store.put("c", &mut |_| Err(io::Error::other("the writer gives up")));
    assert!(failed.is_err(), "the error of the writer is told");
    assert_eq!(read(store, "a"), b"second", "a failed write leaves what was there");
    assert_eq!(names(store), ["a", "b"], "a failed write leaves no object");
    store.remove_unfinished().expect("leftovers are removed");
    assert_eq!(names(store), ["a", "b"], "whole objects are no leftovers");

    assert_eq!(
        store.length("d").err().map(|e| e.kind()),
        Some(io::ErrorKind::NotFound),
        "no object, no length"
    );
    assert!(put_named(store, b"four").expect("puts it"), "the object is new");
    assert!(!put_named(store, b"four").expect("puts it"), "an object of this length was there");
    assert_eq!((read(store, "d"), store.length("d").expect("it is there")), (b"four".to_vec(), 4));
    assert!(put_named(store, b"whole").expect("puts it"), "an object of another length was damaged");
    assert_eq!(read(store, "d"), b"whole");
    let failed = store.put_named(&mut |out| {
        out.write_all(&vec![1; 2 << 20])?;
        Err(io::Error::other("the writer gives up"))
    });
    assert!(failed.is_err(), "the error of the writer is told");
    assert_eq!(names(store), ["a", "b", "d"], "a failed write leaves no object");
    assert_eq!(store.list_beginning("").expect("lists").len(), 3);
    assert_eq!(store.list_beginning("b").expect("lists"), ["b"]);
    assert_eq!(store.list_beginning("bb").expect("lists"), [""; 0]);
    store.remove(&["d".to_owned()]).expect("removes");

    let mut part = [0; 3];
    let mut reader = store.open("b").expect("it is there");
    assert_eq!(reader.seek(SeekFrom::End(-3)).expect("seeks"), (3 << 20) - 3);
    reader.read_exact(&mut part).expect("reads the end");
    assert_eq!((part, reader.read(&mut part).expect("reads nothing")), ([7; 3], 0));

    assert_eq!(reader.seek(SeekFrom::Start(1 << 20)).expect("seeks"), 1 << 20);
    assert_eq!(reader.seek(SeekFrom::Current(-1)).expect("seeks"), (1 << 20) - 1);
    let mut rest = Vec::new();
    assert_eq!(reader.read_to_end(&mut rest).expect("reads on"), (2 << 20) + 1);
    assert!(reader.seek(SeekFrom::Current(-(4 << 20))).is_err(), "there is nothing before the beginning");
    put(store, "empty", b"");
    assert_eq!((read(store, "empty"), store.length("empty").expect("it is there")), (Vec::new(), 0));
    store.remove(&["a".to_owned(), "empty".to_owned(), "none".to_owned()]).expect("removes");
    assert_eq!(names(store), ["b"]);
    assert!(store.describe("b").contains('b'), "an error text names the object");
}

fn put_named(store: &dyn Store, bytes: &[u8]) -> io::Result<bool> {
    store.put_named(&mut |out| {
        out.write_all(bytes)?;
        Ok("d".to_owned())
    })
}

fn put(store: &dyn Store, name: &str, bytes: &[u8]) {
    store.put(name, &mut |out| out.write_all(bytes)).expect("puts an object");
}

fn read(store: &dyn Store, name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    store.open(name).expect("it is there").read_to_end(&mut bytes).expect("reads it");
    bytes
}

fn names(store: &dyn Store) -> Vec<String> {
    let mut names = store.list().expect("lists");
    names.sort();
    names
}
