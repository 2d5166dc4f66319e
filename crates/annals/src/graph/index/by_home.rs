//! Instances of other collections, by collection.

use super::event::Event;
use super::{Index, Stored};
use crate::Result;
use crate::graph::report::Differences;
use crate::graph::structures::slot_set::Extents;

/// Instances of other collections, by the symbol of the collection's name.
#[derive(Clone, Default)]
pub(crate) struct ByHome {
    /// Live ones.
    pub(crate) homed: Extents,
    /// Instances with a version of the collection that is not in force, and deleted instances of it.
    pub(crate) past_homed: Extents,
}

impl Index for ByHome {
    const NAME: &'static str = "homes";

    fn update(&mut self, events: &[&Event]) {
        for event in events {
            match event {
                Event::Put(put) => {
                    let before = put.before.as_ref().and_then(|before| before.listed_home());
                    let after = put.after.listed_home();
                    if before == after {
                        continue;
                    }
                    if let Some(before) = before {
                        self.homed.remove(before, put.slot);
                        self.past_homed.insert(before, put.slot);
                    }
                    if let Some(after) = after {
                        self.homed.insert(after, put.slot);
                        self.past_homed.remove(after, put.slot);
                    }
                }
                Event::Purge(purge) => {
                    for home in &purge.homes {
                        self.homed.remove(*home, purge.slot);
                        self.past_homed.remove(*home, purge.slot);
                    }
                }
                Event::Correct(_) | Event::Reindex(_) => {}
            }
        }
    }

    fn derive(&mut self, stored: &[Stored]) -> Result<()> {
        for Stored { slot, row, home, past, .. } in stored {
            for before in past.iter().filter_map(|version| version.home) {
                if Some(before) != *home {
                    self.past_homed.insert(before, *slot);
                }
            }
            if let Some(home) = home {
                let list = if row.is_live() { &mut self.homed } else { &mut self.past_homed };
                list.insert(*home, *slot);
            }
        }
        Ok(())
    }

    fn compare(&self, found: &ByHome, report: &mut Differences) {
        report.compare_extents("home extents", &self.homed, &found.homed);
        report.compare_extents("past home extents", &self.past_homed, &found.past_homed);
    }
}
