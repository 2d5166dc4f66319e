//! The entities that are proxies: only the fields given by relationships are known.

use super::event::Event;
use super::{Index, Stored};
use crate::Result;
use crate::graph::report::Differences;
use crate::graph::structures::slot_set::SlotSet;

/// Proxies. They are live for relationships, but in no list of types or classifications.
#[derive(Clone, Default)]
pub(crate) struct Proxies {
    /// Present proxies.
    pub(crate) present: SlotSet,
    /// Present proxies, entities that were proxies in a version not in force, and deleted proxies.
    pub(crate) ever: SlotSet,
}

impl Index for Proxies {
    const NAME: &'static str = "proxies";

    fn update(&mut self, events: &[&Event]) {
        for event in events {
            match event {
                Event::Put(put) if put.after.is_live_proxy() => {
                    self.present.insert(put.slot);
                    self.ever.insert(put.slot);
                }
                Event::Put(put) if put.before.as_ref().is_some_and(|before| before.is_live_proxy()) => {
                    self.present.remove(put.slot);
                }
                Event::Purge(purge) => {
                    self.present.remove(purge.slot);
                    self.ever.remove(purge.slot);
                }
                Event::Put(_) | Event::Correct(_) | Event::Reindex(_) => {}
            }
        }
    }

    fn derive(&mut self, stored: &[Stored]) -> Result<()> {
        for Stored { slot, row, is_proxy, past, .. } in stored {
            if *is_proxy && row.is_live() {
                self.present.insert(*slot);
            }
            if *is_proxy || past.iter().any(|version| version.is_proxy) {
                self.ever.insert(*slot);
            }
        }
        Ok(())
    }

    fn compare(&self, found: &Proxies, report: &mut Differences) {
        if (&self.present, &self.ever) != (&found.present, &found.ever) {
            report.add(|| "proxies: other entities are, or were, some".into());
        }
    }
}
