//! The conformance suite of all registers, as public test functions.

#![expect(clippy::expect_used, reason = "tests panic")]

use std::sync::atomic::{AtomicU64, Ordering};

use super::{REGISTER_BYTES_MAX, Register, Slot};
use crate::ErrorKind;

/// Runs the suite on an empty register; `handles` are at least two handles onto it.
///
/// # Panics
///
/// If the register does not conform.
pub fn check_register(handles: &[&dyn Register]) {
    let (first, second) = (handles.first().expect("a handle"), handles.get(1).expect("a second handle"));
    for slot in [Slot::Upkeep, Slot::Lease] {
        assert_eq!(first.get(slot).expect("get"), None);
        assert!(!first.swap(slot, Some(b"x"), b"a").expect("swap"), "nothing is not x");
        assert!(first.swap(slot, None, b"a").expect("swap"));
        assert!(!second.swap(slot, None, b"b").expect("swap"), "it is set");
        assert_eq!(second.get(slot).expect("get").as_deref(), Some(&b"a"[..]), "the other handle sees it");
        assert!(second.swap(slot, Some(b"a"), &[0; 1000]).expect("swap"));
        assert!(!first.swap(slot, Some(b"a"), b"c").expect("swap"), "a stale value is not swapped");
        assert_eq!(first.get(slot).expect("get"), Some(vec![0; 1000]));
    }
    let large = vec![7; REGISTER_BYTES_MAX + 1];
    let refused = first.swap(Slot::Upkeep, Some(&[0; 1000]), &large).expect_err("too large");
    assert_eq!(refused.kind(), ErrorKind::TooLarge);
    assert!(
        first.swap(Slot::Upkeep, Some(&[0; 1000]), large.get(1..).expect("bytes")).expect("swap"),
        "the bound itself fits"
    );
    assert_eq!(second.get(Slot::Upkeep).expect("get").as_deref(), large.get(1..));
    assert_eq!(first.get(Slot::Lease).expect("get"), Some(vec![0; 1000]), "the slots are apart");
    let (earlier, later) = (first.now().expect("now"), second.now().expect("now"));
    assert!(earlier <= later, "{earlier}, then {later}");
    check_races(handles);
}

/// Each round, all handles swap the same value, and exactly one of them does it.
fn check_races(handles: &[&dyn Register]) {
    let slot = Slot::Lease;
    let mut value = handles.first().expect("a handle").get(slot).expect("get");
    for round in 0..50u64 {
        let winner = AtomicU64::new(0);
        let winners = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for (number, register) in (1u64..).zip(handles.iter().cycle().take(8)) {
                let (value, winner, winners) = (&value, &winner, &winners);
                scope.spawn(move || {
                    let own = [round.to_le_bytes(), number.to_le_bytes()].concat();
                    if register.swap(slot, value.as_deref(), &own).expect("swap") {
                        winner.store(number, Ordering::SeqCst);
                        winners.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(winners.into_inner(), 1, "round {round}");
        let expected = [round.to_le_bytes(), winner.into_inner().to_le_bytes()].concat();
        value = handles.last().expect("a handle").get(slot).expect("get");
        assert_eq!(value, Some(expected), "round {round}");
    }
}
