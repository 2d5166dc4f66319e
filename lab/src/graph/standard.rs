//! The standard graph: an entity has four properties of together about 120 bytes, a relationship has one.
//!
//! Every element follows from its number, so that any process can check answers.

use std::io::Write;
use std::sync::Arc;

use annals::{Id, NewEntity, NewRelationship, Value};

use super::random::{Random, mix};

/// Different values of the property `size`.
const SIZES: usize = 1_000;
/// Units: bytes of the property `name`, and of those before its digits.
const NAME_BYTES: usize = 103;
const NAME_LABEL_BYTES: usize = 22;
/// Ids made in one millisecond.
const IDS_PER_MS: usize = 256;
/// 2024-01-01. Units: milliseconds since 1970.
const FIRST_MS: u64 = 1_704_067_200_000;

/// Names of types and properties, made once and shared by all elements.
pub struct Standard {
    vertex: Arc<str>,
    edge: Arc<str>,
    name: Arc<str>,
    size: Arc<str>,
    weight: Arc<str>,
    is_even: Arc<str>,
    number: Arc<str>,
}

impl Standard {
    pub fn new() -> Standard {
        let [vertex, edge, name, size, weight, is_even, number] =
            ["vertex", "edge", "name", "size", "weight", "is_even", "number"].map(Arc::from);
        Standard { vertex, edge, name, size, weight, is_even, number }
    }

    /// The entity with this number.
    pub fn entity(&self, number: usize) -> NewEntity {
        self.entity_with(vertex_id(number), number)
    }

    /// The same under another id.
    pub fn entity_with(&self, id: Id, number: usize) -> NewEntity {
        let properties = vec![
            (Arc::clone(&self.name), Value::from(text(&name_bytes(number)))),
            (Arc::clone(&self.size), Value::from(size(number))),
            (Arc::clone(&self.weight), Value::from(weight(number))),
            (Arc::clone(&self.is_even), Value::from(is_even(number))),
        ];
        NewEntity {
            id,
            type_name: Arc::clone(&self.vertex),
            properties,
            classifications: Vec::new(),
            status: None,
            provenance: None,
        }
    }

    /// The relationship with this number.
    pub fn relationship(&self, number: usize, from: Id, to: Id) -> NewRelationship {
        self.relationship_with(edge_id(number), number, from, to)
    }

    /// The same under another id.
    pub fn relationship_with(&self, id: Id, number: usize, from: Id, to: Id) -> NewRelationship {
        let properties = vec![(Arc::clone(&self.number), Value::from(number as i64))];
        NewRelationship {
            id,
            type_name: Arc::clone(&self.edge),
            from,
            to,
            properties,
            status: None,
            provenance: None,
        }
    }
}

/// The entity property `name`: 103 bytes that a dictionary cannot shorten.
pub fn name(number: usize) -> String {
    text(&name_bytes(number)).to_owned()
}

/// Its bytes, without allocating, so that only the engine is measured.
fn name_bytes(number: usize) -> [u8; NAME_BYTES] {
    let mut bytes = [0; NAME_BYTES];
    let (label, rest) = bytes.split_at_mut(NAME_LABEL_BYTES);
    let mut label = label;
    write!(label, "vertex {number:>14} ").expect("numbers of elements have at most 14 digits");
    let (digits, last) = rest.split_at_mut(NAME_BYTES - NAME_LABEL_BYTES - 1);
    for (part, digits) in (1..).zip(digits.chunks_exact_mut(16)) {
        digits.copy_from_slice(&hex(mix(mix(number as u64) ^ part)));
    }
    last[0] = b'0' + (number % 10) as u8;
    bytes
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("letters, digits and spaces")
}

// The formatter of the library takes several times as long.
fn hex(number: u64) -> [u8; 16] {
    std::array::from_fn(|at| b"0123456789abcdef"[(number >> (60 - 4 * at)) as usize & 15])
}

/// The entity property `size`: a thousand different values.
pub fn size(number: usize) -> i64 {
    (number % SIZES) as i64
}

/// The entity property `weight`: all different, ascending.
pub fn weight(number: usize) -> f64 {
    number as f64 / 3.0
}

/// The entity property `is_even`.
pub fn is_even(number: usize) -> bool {
    number.is_multiple_of(2)
}

/// Id of the entity with this number.
pub fn vertex_id(number: usize) -> Id {
    Id::from_uuid_bytes(uuid_v7(number, 1))
}

/// Id of the relationship with this number.
pub fn edge_id(number: usize) -> Id {
    Id::from_uuid_bytes(uuid_v7(number, 2))
}

/// A UUID of version 7 as if made in a loop: ascending, with random bits at the end. Source: RFC 9562, section 5.7.
fn uuid_v7(number: usize, seed: u64) -> [u8; 16] {
    let ms = FIRST_MS + (number / IDS_PER_MS) as u64;
    let counter = (number % IDS_PER_MS) as u64;
    let high = ms << 16 | 7 << 12 | counter << 4;
    let low = mix(mix(number as u64) ^ seed) >> 2 | 0b10 << 62;
    (u128::from(high) << 64 | u128::from(low)).to_be_bytes()
}

/// Three relationships from every entity, each to a random one.
///
/// Shape: `[(from, to)]`, by `from`.
pub fn random_edges(entities: usize) -> Vec<(u32, u32)> {
    let mut random = Random::new(42);
    (0..3 * entities).map(|number| ((number / 3) as u32, random.below(entities) as u32)).collect()
}

/// Three relationships per entity; the k-th most frequent entity is the start, or the end, of a share proportional to
/// 1/k. Of 3 million, more than 200,000 start at one entity, and as many end at another.
///
/// Shape: `[(from, to)]`, in no order.
pub fn power_law_edges(entities: usize) -> Vec<(u32, u32)> {
    let mut random = Random::new(43);
    let mut sums = Vec::with_capacity(entities);
    let mut sum = 0.0;
    for rank in 1..=entities {
        sum += 1.0 / rank as f64;
        sums.push(sum);
    }
    let mut pick = |seed: u64| {
        let at = random.share() * sum;
        let rank = sums.partition_point(|sum| *sum <= at).min(entities - 1);
        // Spread the frequent entities over all numbers: in a real graph they are not adjacent.
        ((rank as u64).wrapping_mul(2_654_435_761).wrapping_add(seed) % entities as u64) as u32
    };
    (0..3 * entities).map(|_| (pick(0), pick(7_919))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entity_has_about_120_bytes() {
        assert!([0, 999, 1_234_567].iter().all(|number| name(*number).len() == 103));
        assert_eq!(103 + 8 + 8 + 1, 120);
    }

    #[test]
    fn ids_ascend_and_are_of_version_7() {
        let ids: Vec<Id> = (0..1_000).map(vertex_id).collect();
        assert!(ids.is_sorted_by(|a, b| a < b));
        let text = ids[999].to_string();
        assert_eq!((&text[14..15], &text[19..20] >= "8"), ("7", true));
        assert_ne!(vertex_id(5), edge_id(5));
    }

    #[test]
    fn a_power_law_has_hubs() {
        let mut degrees = vec![0; 1_000];
        power_law_edges(1_000).iter().for_each(|(from, _)| degrees[*from as usize] += 1);
        let largest = degrees.iter().max();
        assert!(largest.is_some_and(|largest| *largest > 300), "{largest:?}");
    }
}
