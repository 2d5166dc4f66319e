//! Objects of many bytes, many objects, and objects that go away while they are read.

use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::time::Duration;

use annals::log::{Register, Slot};
use annals::storage::Store;
use annals_logs::Options;
use annals_logs::s3::S3Store;

use crate::proxy::Proxy;
use crate::server::shared;
use crate::support::{new_bucket, new_place, open, place_at, put, put_named, read};

/// Bytes that differ from each other.
fn bytes(count: usize) -> Vec<u8> {
    (0..count).map(|at| (at % 251) as u8 ^ (at >> 13) as u8).collect()
}

#[test]
fn large_objects_are_put_in_parts_and_read_from_any_place() {
    let store = open(&new_place());
    let all = bytes((20 << 20) + 12_345);
    put(&*store, "large", &all);
    assert_eq!(store.length("large").unwrap(), all.len() as u64);
    assert!(read(&*store, "large") == all, "in order");
    let mut reader = store.open("large").unwrap();
    let mut part = vec![0; 300_000];
    for start in [0_usize, 1, 20 << 20, 5_000_000, 4_999_999, 65_536, 19_000_000, 70_000] {
        reader.seek(SeekFrom::Start(start as u64)).unwrap();
        let count = part.len().min(all.len() - start);
        reader.read_exact(&mut part[..count]).unwrap();
        assert!(part[..count] == all[start..start + count], "from {start}");
    }
    assert!(!put_named(&*store, "large", &all).unwrap(), "it is there");
    assert_eq!(store.list().unwrap(), ["large"]);
}

#[test]
fn more_names_than_a_page_has_are_listed_and_removed() {
    let store = open(&new_place());
    let names: Vec<String> = (0..1_050).map(|number| format!("{:04}~{}", number / 2, number % 2)).collect();
    std::thread::scope(|scope| {
        for names in names.chunks(300) {
            let store = &store;
            scope.spawn(move || names.iter().for_each(|name| put(&**store, name, b"x")));
        }
    });
    let mut found = store.list().unwrap();
    found.sort();
    assert_eq!(found, names);
    assert_eq!(store.list_beginning("0007~").unwrap().len(), 2);
    // The register is none of the objects.
    assert!(store.swap(Slot::Lease, None, b"value").unwrap());
    store.remove(&names[1..]).unwrap();
    assert_eq!(store.list().unwrap(), names[..1]);
    assert_eq!(store.get(Slot::Lease).unwrap().as_deref(), Some(&b"value"[..]));
}

#[test]
fn an_object_that_is_removed_or_replaced_while_it_is_read_is_told_as_missing() {
    let store = open(&new_place());
    let all = bytes(2 << 20);
    for is_replaced in [false, true] {
        put(&*store, "a", &all);
        let mut reader = store.open("a").unwrap();
        let mut part = [0; 10];
        reader.read_exact(&mut part).unwrap();
        match is_replaced {
            true => put(&*store, "a", &bytes((2 << 20) + 1)[1..]),
            false => store.remove(&["a".to_owned()]).unwrap(),
        }
        reader.seek(SeekFrom::Start(1 << 20)).unwrap();
        let error = reader.read_exact(&mut part).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
        assert!(error.to_string().contains("removed or replaced while it was read"), "{error}");
    }
    assert_eq!(store.open("none").err().map(|error| error.kind()), Some(ErrorKind::NotFound));
}

#[test]
fn readers_ask_for_nothing_that_they_do_not_need() {
    let store = open(&new_place());
    put(&*store, "a", b"");
    assert_eq!(read(&*store, "a"), b"");
    let mut reader = store.open("a").unwrap();
    assert_eq!(reader.seek(SeekFrom::Start(100)).unwrap(), 100);
    assert_eq!(reader.read(&mut [0; 4]).unwrap(), 0);
}

/// Each reader held twenty mebibytes, and each upload forty, however many there were and whatever the memory budget.
#[test]
fn what_readers_ask_for_ahead_has_a_bound_for_all_of_them() {
    const MIB: usize = 1 << 20;
    let bucket = new_bucket();
    let proxy = Proxy::before(shared().port);
    let options = Options { ahead_bytes_max: 8 << 20, ..Options::default() };
    let store = S3Store::open(&place_at(proxy.port, &bucket), &options).unwrap();
    let all = bytes(16 * MIB);
    put(&store, "large", &all);
    let before = proxy.told_bytes();
    let mut readers: Vec<_> = (0..3).map(|_| store.open("large").unwrap()).collect();
    let mut begun = vec![0; 2 * MIB];
    for reader in &mut readers {
        reader.read_exact(&mut begun).unwrap();
        assert!(begun == all[..begun.len()]);
    }
    // The pieces on their way arrive.
    let mut told = proxy.told_bytes();
    loop {
        std::thread::sleep(Duration::from_millis(500));
        if std::mem::replace(&mut told, proxy.told_bytes()) == proxy.told_bytes() {
            break;
        }
    }
    let most = 3 * 2 * MIB + 8 * MIB + MIB;
    assert!(told - before < most as u64, "{} bytes for three readers of {} each", told - before, begun.len());
    // They read on, and get every byte.
    for mut reader in readers {
        let mut rest = Vec::new();
        reader.read_to_end(&mut rest).unwrap();
        assert!(rest == all[begun.len()..]);
    }
    // Without room for one part an upload sends one after the other, and reads go on in small pieces.
    let options = Options::default().within(Some(16 << 20));
    assert_eq!(options.ahead_bytes_max, 1 << 20);
    let narrow = S3Store::open(&place_at(proxy.port, &bucket), &options).unwrap();
    put(&narrow, "other", &all);
    assert!(read(&narrow, "other") == all);
}
