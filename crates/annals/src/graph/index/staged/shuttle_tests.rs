//! Stages in many orders of the steps of their threads: readers of neighbouring versions wait for each other, and not for ever.

use shuttle::thread;

use super::*;
use crate::sync::in_many_orders;

#[derive(Default)]
struct Numbers(Vec<u32>);

impl Notes for Numbers {
    type Part = Vec<u32>;

    const PROMPT: u8 = 1;

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn size(&self) -> usize {
        size_of_val(&self.0[..])
    }

    fn apply_to(notes: &[&Numbers], part: &mut Vec<u32>) {
        part.extend(notes.iter().flat_map(|notes| &notes.0));
    }
}

#[test]
fn each_version_has_the_changes_up_to_it_whoever_settles_first() {
    in_many_orders(|| {
        let mut numbers = Staged::<Numbers>::new(Vec::new());
        let mut threads = Vec::new();
        for number in 0..4 {
            numbers.defer();
            numbers.change(|part| part.push(number), |notes| notes.0.push(number));
            numbers.hand_over();
            let version = numbers.clone();
            threads.push(thread::spawn(move || {
                // As the thread of the index does, or a reader.
                if number % 2 == 0 {
                    version.catch_up()
                }
                assert!(version.part().iter().copied().eq(0..=number));
            }));
        }
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(numbers.part().iter().copied().eq(0..4));
    });
}
