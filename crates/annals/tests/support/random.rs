//! Random numbers from a seed: the same seed gives the same test on every machine.

/// SplitMix64. Source: <https://prng.di.unimi.it/splitmix64.c>.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of `items`.
    pub fn choose<'i, T>(&mut self, items: &'i [T]) -> &'i T {
        &items[self.below(items.len())]
    }
}

/// A seed that no run had before. With `ANNALS_FIRST_SEED`, one that this number and the name of the test give, and the next time the one
/// after it: so a test has the same seeds for the same commit, whichever tests run beside it.
pub fn fresh_seed() -> u64 {
    use std::cell::Cell;
    use std::hash::{BuildHasher, RandomState};

    thread_local! {
        static COUNT: Cell<u64> = const { Cell::new(0) };
    }
    match number_from_environment("ANNALS_FIRST_SEED", 0) {
        0 => RandomState::new().hash_one(0u8) >> 24,
        first => {
            let thread = std::thread::current();
            // FNV-1a. Source: <http://www.isthe.com/chongo/tech/comp/fnv/>.
            let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
            let name = thread.name().unwrap_or_default().bytes().fold(0x811C_9DC5, step);
            first + u64::from(name) + COUNT.replace(COUNT.get() + 1)
        }
    }
}

/// A number from an environment variable, for longer campaigns; `otherwise` if it is not set.
pub fn number_from_environment(name: &str, otherwise: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name}={text}: expected a number")),
        Err(_) => otherwise,
    }
}
