//! All kinds of changes, mixed: the places where two features meet. A plain model that keys instances by their birth says
//! what must be there, and what must not have been touched.
//!
//! A failure prints its seed, and which changes found no room. `MIXTURE_SEED=n MIXTURE_WITHOUT_ROOM=n,n` repeats one history;
//! `MIXTURE_SECONDS` makes a campaign.

mod apply;
mod candidates;
mod edit;
mod ends;
mod exchange;
mod grouped;
mod generate;
mod imports;
mod leases;
mod limited_writers;
mod limited_reverts;
mod memory;
mod merged;
mod model;
#[path = "../../../annals/tests/support/object_log.rs"]
#[expect(dead_code, reason = "damage is for other tests")]
mod object_log;
mod place;
mod purged;
mod push;
#[path = "../../../annals/tests/support/random.rs"]
mod random;
mod reverted;
mod roles;
mod rules;
mod see;
mod settled;
mod repeats;
mod sights;
mod subtree_tags;
mod taken_back;
mod views;
mod watched;
mod world;

use std::time::{Duration, Instant};

use random::{fresh_seed, number_from_environment};
use world::World;

/// Changes of one history.
const STEPS: usize = 160;

fn run(seed: u64, without_room: Option<Vec<usize>>) -> usize {
    // For failures that cannot tell it.
    println!("MIXTURE_SEED={seed}");
    annals::Id::repeat_random(seed);
    let mut world = World::new(seed, without_room);
    for _ in 0..STEPS {
        world.step();
    }
    world.finish()
}

#[test]
fn mixed_changes_are_what_a_plain_model_says_they_are() {
    let only = number_from_environment("MIXTURE_SEED", 0);
    if only > 0 {
        let without_room = std::env::var("MIXTURE_WITHOUT_ROOM").unwrap_or_default();
        let numbers = without_room.split(',').filter(|number| !number.is_empty());
        run(only, Some(numbers.map(|number| number.parse().expect("a number")).collect()));
        return;
    }
    let seconds = number_from_environment("MIXTURE_SECONDS", 20);
    let end = Instant::now() + Duration::from_secs(seconds);
    let (mut histories, mut accepted) = (0, 0);
    while histories < 3 || Instant::now() < end {
        accepted += run(fresh_seed(), None);
        histories += 1;
    }
    println!("{histories} histories, {accepted} changes accepted");
    assert!(accepted > histories * STEPS / 8, "{accepted} changes of {histories} histories were accepted");
}
