//! The trigrams of the texts below a branch: a search for a part of a text can skip branches without its trigrams.
//!
//! A signature is computed on first use, stored in the branch, and dropped when a key below the branch changes. So it
//! costs writers nothing, and it is part of the immutable value: a snapshot sees exactly its own.

use std::sync::OnceLock;

use super::Node;
use super::run::Keys;
use super::set_key::Key;
use crate::structures::text_key::{decode_key_text, is_text_key, key_is_cut};

/// Units: words of 64 bits. A branch over leaves has some 3,000 keys, and real texts some thousand trigrams.
const WORDS: usize = 128;

/// Bytes behind the value in a key.
const SLOT_BYTES: usize = 4;

/// The trigrams of a set of texts, each as one of many bits: several trigrams may share a bit.
#[derive(Clone)]
struct Signature {
    words: Box<[u64; WORDS]>,
    /// True if some texts are known only by their beginning.
    is_open: bool,
}

/// The signature of a branch once it is computed. A copy has none, because a branch is copied to be changed.
#[derive(Default)]
pub(super) struct Known(OnceLock<Signature>);

impl Clone for Known {
    fn clone(&self) -> Known {
        Known::default()
    }
}

impl Known {
    /// Called before a key below the branch changes.
    #[inline]
    pub(super) fn forget(&mut self) {
        if self.0.get().is_some() {
            self.0.take();
        }
    }
}

/// The trigrams of the texts that a search wants.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Needed {
    /// Not known: any text may match.
    Unknown,
    /// This trigram. Shape: [`gram`].
    Gram(u32),
    All(Vec<Needed>),
    Any(Vec<Needed>),
}

/// The number of a trigram of folded characters: a hash.
pub(crate) fn gram(characters: [char; 3]) -> u32 {
    let mixed = characters
        .iter()
        .fold(0u32, |mixed, c| mixed.rotate_left(11) ^ u32::from(fold(*c)).wrapping_mul(0x9E37_79B1));
    mixed ^ mixed >> 15
}

/// A common character for all characters that differ only in case, as far as trigrams are concerned.
pub(crate) fn fold(character: char) -> char {
    match character {
        _ if character.is_ascii() => character.to_ascii_lowercase(),
        'ſ' => 's',
        _ => {
            let mut lower = character.to_lowercase();
            lower.next().filter(|_| lower.next().is_none()).unwrap_or(character)
        }
    }
}

impl Signature {
    fn empty() -> Signature {
        Signature { words: Box::new([0; WORDS]), is_open: false }
    }

    fn of(node: &Node) -> &Signature {
        node.known().0.get_or_init(|| {
            let mut signature = Signature::empty();
            for index in 0..node.branch().children_len() {
                match node.child(index) {
                    Node::Leaf(leaf) => signature.add_leaf(leaf.keys()),
                    inner => {
                        let below = Signature::of(inner);
                        signature.is_open |= below.is_open;
                        signature
                            .words
                            .iter_mut()
                            .zip(below.words.iter())
                            .for_each(|(own, more)| *own |= more);
                    }
                }
            }
            signature
        })
    }

    fn add_leaf(&mut self, leaf: Keys) {
        let (mut text, mut value) = (Vec::new(), Vec::new());
        for key in leaf.iter().filter(|key| key.len() >= SLOT_BYTES) {
            let found = key.without_last(SLOT_BYTES);
            if found == value[..] {
                continue;
            }
            found.write_to(&mut value);
            if !is_text_key(&value) {
                continue;
            }
            if key_is_cut(&value) {
                self.is_open = true;
                continue;
            }
            decode_key_text(&value, &mut text);
            let Ok(text) = std::str::from_utf8(&text) else { continue };
            let mut last = ['\0'; 3];
            for (at, character) in text.chars().enumerate() {
                last = [last[1], last[2], character];
                if at >= 2 {
                    let (word, bit) = place(gram(last));
                    self.words[word] |= bit;
                }
            }
        }
    }

    fn may_have(&self, needed: &Needed) -> bool {
        self.is_open
            || match needed {
                Needed::Unknown => true,
                Needed::Gram(gram) => {
                    let (word, bit) = place(*gram);
                    self.words[word] & bit != 0
                }
                Needed::All(parts) => parts.iter().all(|part| self.may_have(part)),
                Needed::Any(parts) => parts.iter().any(|part| self.may_have(part)),
            }
    }
}

fn place(gram: u32) -> (usize, u64) {
    let bit = gram as usize % (64 * WORDS);
    (bit / 64, 1 << (bit % 64))
}

pub(super) fn search<E>(
    node: &Node,
    low: &[u8],
    high: &[u8],
    needed: &Needed,
    skipped: &mut usize,
    take: &mut dyn FnMut(Key) -> Result<(), E>,
) -> Result<(), E> {
    if let Node::Leaf(leaf) = node {
        let keys = leaf.keys();
        let (from, to) =
            (keys.search(low).unwrap_or_else(|at| at), keys.search(high).unwrap_or_else(|at| at));
        return keys.range(from..to).try_for_each(take);
    }
    if *needed != Needed::Unknown && !Signature::of(node).may_have(needed) {
        *skipped += 1;
        return Ok(());
    }
    let branch = node.branch();
    let (first, last) = (branch.child_index(low), branch.child_index(high));
    (first..=last).try_for_each(|index| search(node.child(index), low, high, needed, skipped, take))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Value, append_index_key};
    use crate::structures::key_set::KeySet;

    fn key(text: &str, slot: u32) -> Vec<u8> {
        let mut key = Vec::new();
        append_index_key(&Value::from(text), &mut key);
        key.extend_from_slice(&slot.to_be_bytes());
        key
    }

    fn found(set: &KeySet, part: &str) -> (Vec<Vec<u8>>, usize) {
        let characters: Vec<char> = part.chars().collect();
        let needed = Needed::All(
            characters.windows(3).map(|three| Needed::Gram(gram([three[0], three[1], three[2]]))).collect(),
        );
        let mut keys = Vec::new();
        let mut text = Vec::new();
        let skipped = set.search_texts(&[0x30], &[0x39], &needed, &mut |key: Key| -> Result<(), ()> {
            decode_key_text(&key.without_last(4).to_vec(), &mut text);
            if std::str::from_utf8(&text).unwrap().to_lowercase().contains(&part.to_lowercase()) {
                keys.push(key.to_vec());
            }
            Ok(())
        });
        (keys, skipped.unwrap())
    }

    #[test]
    fn nothing_is_left_out_that_has_the_part_whatever_was_changed_since() {
        let mut set = KeySet::new();
        let mut all = std::collections::BTreeSet::new();
        let mut state = 7u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let words = ["alpha", "Beta", "gamma", "delta", "Épsilon"];
        let mut earlier = Vec::new();
        for step in 0..20_000u32 {
            // Most texts consist of few words, and are stored beside texts with the same beginning.
            let word = words[random(5) as usize];
            let text = format!("{}{word}{}", char::from(b'a' + random(26) as u8), random(900));
            let text = if step % 5_000 == 0 { format!("m{step}needle") } else { text };
            let own = key(&text, random(4) as u32);
            if random(4) > 0 || step % 5_000 == 0 {
                set.insert(&own);
                all.insert(own);
            } else {
                set.remove(&own);
                all.remove(&own);
            }
            if step % 2_500 == 0 {
                earlier.push((set.clone(), all.clone()));
                // Computes the signatures, so that they must be dropped.
                found(&set, "needle");
            }
        }
        earlier.push((set, all));
        for (set, all) in &earlier {
            for part in ["needle", "NEEDLE", "psilon1", "a1", "zzz", "beta"] {
                let (keys, skipped) = found(set, part);
                let has = |key: &&Vec<u8>| {
                    let mut text = Vec::new();
                    decode_key_text(&key[..key.len() - 4], &mut text);
                    String::from_utf8(text).unwrap().to_lowercase().contains(&part.to_lowercase())
                };
                assert_eq!(keys, all.iter().filter(has).cloned().collect::<Vec<_>>(), "{part}");
                assert!(
                    part != "needle" || set.len() < 10_000 || skipped > 0,
                    "of {} keys nothing was left out",
                    set.len()
                );
            }
        }
    }
}
