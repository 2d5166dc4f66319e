//! How the cost of a row grows: a constant, and so much for each item.

use std::fmt;

use crate::run::table::time;

/// A line through the times of a row at its sizes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    pub constant_ns: f64,
    pub item_ns: f64,
}

impl Cost {
    /// The line with the least squares of relative errors. Neither part is negative.
    ///
    /// Shape of `points`: items and nanoseconds, both above 0. `None` unless there are two sizes.
    pub fn fit(points: &[(f64, f64)]) -> Option<Cost> {
        let first = points.first()?;
        if points.iter().all(|point| point.0 == first.0) {
            return None;
        }
        // With x = 1/t and y = n/t, the errors are 1 - (a x + b y).
        let (mut x, mut y, mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for (items, ns) in points {
            let (one, each) = (1.0 / ns, items / ns);
            x += one;
            y += each;
            xx += one * one;
            xy += one * each;
            yy += each * each;
        }
        let whole = xx * yy - xy * xy;
        let (constant_ns, item_ns) = ((x * yy - y * xy) / whole, (y * xx - x * xy) / whole);
        Some(match (constant_ns < 0.0, item_ns < 0.0) {
            (true, _) => Cost { constant_ns: 0.0, item_ns: y / yy },
            (_, true) => Cost { constant_ns: x / xx, item_ns: 0.0 },
            _ => Cost { constant_ns, item_ns },
        })
    }

    /// The time at a size. Units: nanoseconds.
    #[cfg(test)]
    fn at(self, items: f64) -> f64 {
        self.constant_ns + items * self.item_ns
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "constant {} + {} per item", time(self.constant_ns), time(self.item_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: [f64; 3] = [1_000.0, 10_000.0, 100_000.0];

    fn fit(cost: impl Fn(f64) -> f64) -> Cost {
        Cost::fit(&SIZES.map(|items| (items, cost(items)))).unwrap()
    }

    #[test]
    fn a_line_is_found_again() {
        for (constant, item) in [(12_000.0, 3.1), (5.0, 1_000.0), (1e9, 0.5)] {
            let found = fit(|items| constant + item * items);
            assert!((found.constant_ns / constant - 1.0).abs() < 1e-6, "{found:?}");
            assert!((found.item_ns / item - 1.0).abs() < 1e-6, "{found:?}");
        }
        assert_eq!(fit(|_| 700.0).to_string(), "constant 700 ns + 0 ns per item");
        assert_eq!(fit(|items| 12_000.0 + 3.1 * items).to_string(), "constant 12.0 µs + 3.10 ns per item");
    }

    #[test]
    fn no_part_is_negative() {
        let steep = fit(|items| items * items / 1_000.0);
        assert!(steep.constant_ns == 0.0 && steep.item_ns > 0.0, "{steep:?}");
        let falling = fit(|items| 1e6 - items);
        assert!(falling.item_ns == 0.0 && falling.constant_ns > 0.0, "{falling:?}");
    }

    #[test]
    fn small_sizes_count_as_much_as_large_ones() {
        // The last time is far from a line through the first two. The line still meets the first within a tenth.
        let found = Cost::fit(&[(1_000.0, 1_100.0), (10_000.0, 2_000.0), (100_000.0, 13_000.0)]).unwrap();
        assert!((found.at(1_000.0) / 1_100.0 - 1.0).abs() < 0.1, "{found:?}");
    }

    #[test]
    fn one_size_says_nothing() {
        assert_eq!(Cost::fit(&[]), None);
        assert_eq!(Cost::fit(&[(10.0, 5.0), (10.0, 6.0)]), None);
    }
}
