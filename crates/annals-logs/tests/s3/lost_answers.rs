//! Answers that are lost on the way: nothing is lost or doubled, and what cannot be known is told.

use std::sync::Arc;
use std::time::{Duration, Instant};

use annals::ErrorKind;
use annals::log::{Register, Slot};
use annals::storage::Store;

use crate::proxy::{Proxy, Way};
use crate::server::shared;
use crate::support::{new_bucket, open, open_within, place_at, put, put_named, read};

/// A store through a proxy, and one beside it.
fn stores(deadline_ms: u64) -> (Proxy, Arc<annals_logs::s3::S3Store>, Arc<annals_logs::s3::S3Store>) {
    let (proxy, bucket) = (Proxy::before(shared().port), new_bucket());
    let through = open_within(&place_at(proxy.port, &bucket), deadline_ms);
    (proxy, through, open(&place_at(shared().port, &bucket)))
}

#[test]
fn a_swap_without_an_answer_is_unknown_and_found_by_its_value() {
    let (proxy, through, beside) = stores(500);
    assert!(through.swap(Slot::Upkeep, None, b"one").unwrap());
    proxy.set(Way::LosesAnswers);
    let start = Instant::now();
    let error = through.swap(Slot::Upkeep, Some(b"one"), b"two").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert!(start.elapsed() < Duration::from_secs(5));
    assert_eq!(beside.get(Slot::Upkeep).unwrap().as_deref(), Some(&b"two"[..]), "it happened");
    proxy.set(Way::Open);
    proxy.cut();
    // The same swap again finds its own value, and another one that is not expected.
    assert!(through.swap(Slot::Upkeep, Some(b"one"), b"two").unwrap());
    assert!(!through.swap(Slot::Upkeep, Some(b"one"), b"three").unwrap());
    assert!(through.swap(Slot::Upkeep, Some(b"two"), b"three").unwrap());
    assert_eq!(beside.get(Slot::Upkeep).unwrap().as_deref(), Some(&b"three"[..]));
}

#[test]
fn a_swap_that_lands_late_changes_nothing_behind_another_one() {
    let (proxy, through, beside) = stores(500);
    assert!(through.swap(Slot::Upkeep, None, b"one").unwrap());
    proxy.set(Way::HoldsRequests);
    assert_eq!(through.swap(Slot::Upkeep, Some(b"one"), b"late").unwrap_err().kind(), ErrorKind::Unavailable);
    assert!(beside.swap(Slot::Upkeep, Some(b"one"), b"two").unwrap());
    proxy.set(Way::Open);
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(beside.get(Slot::Upkeep).unwrap().as_deref(), Some(&b"two"[..]));
    assert!(!through.swap(Slot::Upkeep, Some(b"one"), b"late").unwrap());
}

#[test]
fn reads_and_puts_are_repeated_and_removals_are_not() {
    let (proxy, through, beside) = stores(4_000);
    put(&*through, "a", &vec![7; 3 << 20]);
    proxy.cut();
    assert_eq!(read(&*through, "a").len(), 3 << 20, "on a new connection");
    let mut reader = through.open("a").unwrap();
    std::io::Read::read_exact(&mut reader, &mut [0; 10]).unwrap();
    proxy.cut();
    let mut rest = Vec::new();
    std::io::Read::read_to_end(&mut reader, &mut rest).unwrap();
    assert_eq!(rest.len(), (3 << 20) - 10);
    proxy.cut();
    assert!(put_named(&*through, "b", b"bytes").unwrap());
    assert_eq!(read(&*beside, "b"), b"bytes");
}

#[test]
fn a_removal_without_an_answer_is_an_error() {
    let (proxy, through, beside) = stores(500);
    put(&*through, "a", b"bytes");
    proxy.set(Way::LosesAnswers);
    assert!(through.remove(&["a".to_owned()]).is_err());
    assert_eq!(beside.list().unwrap(), Vec::<String>::new(), "it happened");
    proxy.set(Way::Open);
    proxy.cut();
    through.remove(&["a".to_owned()]).unwrap();
}
