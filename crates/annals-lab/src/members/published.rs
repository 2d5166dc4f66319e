//! The figures of the page, which are of Fedora 4.7.1 and 4.8 in 2016 and 2017.

use super::script::Script;

/// The range of the page's figures for a script at one size.
pub struct Published {
    pub script: Script,
    pub items: usize,
    pub least: Entry,
    pub most: Entry,
    /// How many the page has.
    pub entries: usize,
}

/// One figure of the page.
pub struct Entry {
    /// Of the retrieval; of the load for binaries. Units: seconds.
    pub seconds: f64,
    /// The machine and the store.
    pub environment: &'static str,
}

const fn entry(seconds: f64, environment: &'static str) -> Entry {
    Entry { seconds, environment }
}

const fn range(script: Script, items: usize, least: Entry, most: Entry, entries: usize) -> Published {
    Published { script, items, least, most, entries }
}

const MEDIUM_FILES: &str = "m3.medium, files";
const MEDIUM_POSTGRES: &str = "m3.medium, PostgreSQL";
const XLARGE_POSTGRES: &str = "m3.xlarge, PostgreSQL";
const XLARGE_CACHE: &str = "m3.xlarge, PostgreSQL, cache of a million items";
const LAPTOP_FILES: &str = "i7-4600U, files";

/// All ranges of the page.
pub const PUBLISHED: [Published; 10] = [
    range(Script::Children, 10_000, entry(4.841, "c4.4xlarge, files"), entry(5.567, "c4.2xlarge, files"), 4),
    range(Script::Members, 1_000, entry(0.561, XLARGE_CACHE), entry(4.435, XLARGE_POSTGRES), 10),
    range(Script::Members, 10_000, entry(5.334, XLARGE_CACHE), entry(61.381, MEDIUM_POSTGRES), 19),
    range(
        Script::MemberOf,
        1_000,
        entry(1.883, "m3.xlarge, PostgreSQL and S3, cache of a million items, parallel"),
        entry(11.414, MEDIUM_POSTGRES),
        8,
    ),
    range(
        Script::MemberOf,
        10_000,
        entry(11.559, "m3.xlarge, PostgreSQL, cache of a million items, parallel"),
        entry(194.0, MEDIUM_POSTGRES),
        18,
    ),
    range(Script::Uris, 1_000, entry(0.039, MEDIUM_FILES), entry(0.14, LAPTOP_FILES), 2),
    range(Script::Uris, 10_000, entry(0.063, MEDIUM_FILES), entry(0.17, LAPTOP_FILES), 2),
    range(Script::Properties, 1_000, entry(0.060, MEDIUM_FILES), entry(0.089, LAPTOP_FILES), 2),
    range(Script::Properties, 10_000, entry(0.119, MEDIUM_FILES), entry(0.281, LAPTOP_FILES), 2),
    range(
        Script::Binaries,
        1_000,
        entry(133.0, MEDIUM_POSTGRES),
        entry(396.0, "m3.xlarge, PostgreSQL and S3"),
        5,
    ),
];

/// The range for a script at this size, if the page has one.
pub fn published(script: Script, items: usize) -> Option<&'static Published> {
    PUBLISHED.iter().find(|range| range.script == script && range.items == items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_range_is_ordered_and_there_once() {
        for (at, range) in PUBLISHED.iter().enumerate() {
            assert!(range.least.seconds < range.most.seconds && range.entries >= 2);
            let is_same = |other: &Published| other.script == range.script && other.items == range.items;
            assert!(!PUBLISHED[..at].iter().any(is_same));
        }
    }
}
