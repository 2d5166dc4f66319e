//! Measures structures that snapshots share: `docs/decisions/001-ids-and-slots.md`.

use std::collections::BTreeSet;
use std::hint::black_box;
use std::time::Instant;

use super::structures::id_map::IdMap;
use crate::structures::key_set::KeySet;
use crate::structures::vector::Vector;

const COUNT: u64 = 1_000_000;

/// A pseudo-random number that depends only on `number`. Source: SplitMix64, Steele, Lea and Flood, 2014.
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}

fn key(number: u64) -> [u8; 16] {
    (u128::from(mixed(number)) << 64 | u128::from(number)).to_be_bytes()
}

/// Prints the time of one of a million calls in nanoseconds.
fn measure(what: &str, mut call: impl FnMut(u64)) {
    let start = Instant::now();
    (0..COUNT).for_each(&mut call);
    println!("{what}: {} ns", start.elapsed().as_nanos() / u128::from(COUNT));
}

#[test]
#[ignore = "a measurement: cargo test --release -p annals --lib structures -- --ignored --nocapture"]
fn measure_the_structures() {
    let mut vector = Vector::new();
    measure("Vector push", |number| vector.push(number));
    measure("Vector get, random", |number| {
        black_box(vector.get((mixed(number) % COUNT) as usize));
    });

    let mut ids = IdMap::new();
    measure("IdMap insert", |number| {
        ids.insert(mixed(number).into(), number as u32);
    });
    // As in a commit: the graph before is kept, so the change copies the path to its target.
    let mut kept = ids.clone();
    measure("IdMap insert after a clone", |number| {
        ids.insert(mixed(COUNT + number).into(), (COUNT + number) as u32);
        kept = ids.clone();
    });
    measure("IdMap insert, a clone every 100", |number| {
        ids.insert(mixed(2 * COUNT + number).into(), (2 * COUNT + number) as u32);
        if number % 100 == 0 {
            kept = ids.clone();
        }
    });
    measure("IdMap get, random hit", |number| {
        let wanted = mixed(number) % COUNT;
        black_box(ids.get(mixed(wanted).into(), |_| true));
    });

    let mut keys = KeySet::new();
    measure("KeySet insert, random, 16 bytes", |number| {
        keys.insert(&key(number));
    });
    measure("KeySet contains, random hit", |number| {
        black_box(keys.contains(&key(mixed(number) % COUNT)));
    });
    let mut standard = BTreeSet::new();
    measure("BTreeSet insert, random, 16 bytes", |number| {
        standard.insert(key(number));
    });
    measure("BTreeSet contains, random hit", |number| {
        black_box(standard.contains(&key(mixed(number) % COUNT)));
    });
    // As in a commit: a clone is kept, so the change copies the path to its target.
    measure("KeySet insert after a clone", |number| {
        let kept = keys.clone();
        keys.insert(&key(COUNT + number));
        drop(kept);
    });
}
