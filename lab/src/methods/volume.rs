//! The number of generated instances, and the size of pages.

use std::fmt;
use std::str::FromStr;

/// Most instances per type: one repository has room for those of all types.
const INSTANCES_MAX: usize = 100_000;
/// Largest page of the paged searches.
const PAGE_MAX: usize = 10_000;

/// `i-s` as in the published tables: instances per type and way of creation, and the page size.
///
/// Units: 984 instances for each of `instances`, with the open metadata types of release 3.4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Volume {
    pub instances: usize,
    pub page: usize,
}

impl FromStr for Volume {
    type Err = String;

    fn from_str(text: &str) -> Result<Volume, String> {
        let expected = || {
            format!(
                "expected instances per type and the size of a page, such as 0005-02, at most \
                 {INSTANCES_MAX}-{PAGE_MAX}; found {text:?}"
            )
        };
        let (instances, page) = text.split_once('-').ok_or_else(expected)?;
        let number = |text: &str, max: usize| {
            text.parse().ok().filter(|number| (1..=max).contains(number)).ok_or_else(expected)
        };
        Ok(Volume { instances: number(instances, INSTANCES_MAX)?, page: number(page, PAGE_MAX)? })
    }
}

impl fmt::Display for Volume {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.instances, self.page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_volume_is_written_as_the_tables_have_it() {
        let volume: Volume = "0005-02".parse().unwrap();
        assert_eq!((volume, volume.to_string()), (Volume { instances: 5, page: 2 }, "0005-02".into()));
        assert!(["", "5", "0-2", "5-0", "x-2", "5-2-1"].iter().all(|text| text.parse::<Volume>().is_err()));
    }
}
