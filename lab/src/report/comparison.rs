//! Annals beside each other target: how many times better or worse.

use super::measured::Measured;
use super::statistics::Ratio;
use crate::harness::{Kind, Row, TargetName};

/// A target that loses nothing of what it acknowledged.
pub const SYNCED: &str = "synced";

/// One comparison: above 1 Annals is better.
#[derive(Clone, Debug)]
pub struct Comparison {
    pub row: String,
    pub volume: String,
    pub ours: String,
    pub target: String,
    pub ratio: Ratio,
}

/// Figures of a write that no page compares: the subject and another system keep differently well what they acknowledge.
pub struct Unlike<'m> {
    pub row: &'m Row,
    pub volume: &'m str,
    pub target: &'m TargetName,
    /// Above 1 the subject is faster all the same.
    pub ratio: Ratio,
}

/// Why two figures are not compared.
#[derive(Clone, Debug, PartialEq)]
pub enum Apart {
    /// Both write, and do not promise the same.
    Durability,
    /// One of them has no figure.
    NoFigure,
}

/// How well a target keeps what it acknowledged: `synced`, `unsynced` or `memory`.
fn class(durability: &str) -> &str {
    if durability.starts_with(SYNCED) { SYNCED } else { durability }
}

impl Measured {
    /// Annals beside a target in one row at one volume.
    ///
    /// Figures of writes are compared with the Annals that is as durable; others with the subject of the page. A target
    /// that is asked as one form of Annals is compared with that form only.
    pub fn compare(&self, row: &Row, volume: &str, target: &TargetName) -> Result<Comparison, Apart> {
        let mut is_apart = false;
        let against = |ours: &&TargetName| target.against.as_ref().is_none_or(|name| *name == ours.name);
        for ours in self.ours().into_iter().filter(against) {
            match self.times_of(row, volume, &ours.name, &target.name) {
                Err(Apart::Durability) => is_apart = true,
                Err(Apart::NoFigure) => {}
                Ok(ratio) => {
                    return Ok(Comparison {
                        row: row.name.clone(),
                        volume: volume.to_owned(),
                        ours: ours.name.clone(),
                        target: target.name.clone(),
                        ratio,
                    });
                }
            }
        }
        let has_figure =
            self.cell(&row.name, volume, &target.name).is_some_and(|cell| !cell.values.is_empty());
        Err(if is_apart && has_figure { Apart::Durability } else { Apart::NoFigure })
    }

    /// How many times as good one target is as another one, in one row at one volume.
    pub fn times_of(&self, row: &Row, volume: &str, one: &str, other: &str) -> Result<Ratio, Apart> {
        if row.is_write && self.class(one) != self.class(other) {
            return Err(Apart::Durability);
        }
        self.ratio(row, volume, one, other).ok_or(Apart::NoFigure)
    }

    /// How well a target says that it keeps what it acknowledges: `synced`, `unsynced`, `memory`, or nothing.
    pub fn class(&self, target: &str) -> &str {
        self.introduction(target).map_or("", |told| class(&told.durability))
    }

    /// The figures of writes of the subject and of other systems that keep them differently well.
    pub fn unlike(&self) -> Vec<Unlike<'_>> {
        let Some(subject) = self.subject() else { return Vec::new() };
        let is_rival =
            |target: &&TargetName| target.against.as_ref().is_none_or(|name| *name == subject.name);
        let peers = self.of_kind(&[Kind::Peer, Kind::Tuned]).into_iter().filter(is_rival);
        let peers: Vec<_> =
            peers.filter(|peer| self.class(&peer.name) != self.class(&subject.name)).collect();
        let mut all = Vec::new();
        for row in self.closed_loops().into_iter().filter(|row| row.is_write) {
            for volume in self.volumes(&row.name) {
                let of = |target| {
                    Some(Unlike {
                        row,
                        volume,
                        target,
                        ratio: self.ratio(row, volume, &subject.name, &target.name)?,
                    })
                };
                all.extend(peers.iter().filter_map(|target: &&TargetName| of(*target)));
            }
        }
        all
    }

    /// The same whatever they promise to keep; None if one of them has no figure.
    fn ratio(&self, row: &Row, volume: &str, one: &str, other: &str) -> Option<Ratio> {
        let values = |name: &str| self.cell(&row.name, volume, name).map(|cell| &cell.values);
        Some(Ratio::of(values(one)?, values(other)?)?.for_row(row))
    }

    /// How many times as good a target that syncs what it writes is as one that does not; None unless that is so.
    pub fn times_of_unsynced(&self, row: &Row, volume: &str, one: &str, other: &str) -> Option<Ratio> {
        if self.class(one) != SYNCED || self.class(other) == SYNCED {
            return None;
        }
        self.ratio(row, volume, one, other)
    }

    /// All comparisons with other systems. Rows of an open loop offer each target a share of its own peak, so their
    /// rates say nothing; their latencies are told elsewhere.
    pub fn comparisons(&self) -> Vec<Comparison> {
        let peers = self.of_kind(&[Kind::Peer, Kind::Tuned]);
        let mut all = Vec::new();
        for row in self.closed_loops() {
            for volume in self.volumes(&row.name) {
                all.extend(peers.iter().filter_map(|peer| self.compare(row, volume, peer).ok()));
            }
        }
        all
    }

    /// The rows that find a rate or a time.
    pub fn closed_loops(&self) -> Vec<&Row> {
        self.rows().into_iter().filter(|row| !self.is_open_loop(&row.name)).collect()
    }

    /// True if the row offers a rate instead of finding it.
    pub fn is_open_loop(&self, row: &str) -> bool {
        let targets = self.targets();
        self.volumes(row).iter().any(|volume| {
            targets
                .iter()
                .any(|target| self.cell(row, volume, &target.name).is_some_and(|cell| cell.late.is_some()))
        })
    }
}
