//! Annals beside each other target: how many times better or worse.

use super::measured::Measured;
use super::statistics::Ratio;
use crate::harness::{Kind, Row, TargetName};

/// One comparison: above 1 Annals is better.
#[derive(Clone, Debug)]
pub struct Comparison {
    pub row: String,
    pub volume: String,
    pub ours: String,
    pub target: String,
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

/// How well a target keeps what it acknowledged.
fn class(durability: &str) -> &str {
    if durability.starts_with("synced") { "synced" } else { durability }
}

impl Measured {
    /// Annals beside a target in one row at one volume.
    ///
    /// Figures of writes are compared with the Annals that is as durable; others with the first Annals of the run.
    pub fn compare(&self, row: &Row, volume: &str, target: &TargetName) -> Result<Comparison, Apart> {
        let mut is_apart = false;
        for ours in self.of_kind(&[Kind::Ours]) {
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
        let durability = |name: &str| {
            self.introduction(name).map(|told| class(&told.durability).to_owned()).unwrap_or_default()
        };
        if row.is_write && durability(one) != durability(other) {
            return Err(Apart::Durability);
        }
        self.ratio(row, volume, one, other).ok_or(Apart::NoFigure)
    }

    /// The same whatever they promise to keep; None if one of them has no figure.
    fn ratio(&self, row: &Row, volume: &str, one: &str, other: &str) -> Option<Ratio> {
        let values = |name: &str| self.cell(&row.name, volume, name).map(|cell| &cell.values);
        Some(Ratio::of(values(one)?, values(other)?)?.for_row(row))
    }

    /// How many times as good a target that syncs what it writes is as one that does not; None unless that is so.
    pub fn times_of_unsynced(&self, row: &Row, volume: &str, one: &str, other: &str) -> Option<Ratio> {
        let is_synced =
            |name: &str| self.introduction(name).is_some_and(|told| class(&told.durability) == "synced");
        if !is_synced(one) || is_synced(other) {
            return None;
        }
        self.ratio(row, volume, one, other)
    }

    /// All comparisons with other systems. Rows of an open loop offer each target a share of its own peak, so their
    /// rates say nothing; their latencies are told elsewhere.
    pub fn comparisons(&self) -> Vec<Comparison> {
        let peers = self.of_kind(&[Kind::Peer, Kind::Tuned]);
        let mut all = Vec::new();
        for row in self.rows().into_iter().filter(|row| !self.is_open_loop(&row.name)) {
            for volume in self.volumes(&row.name) {
                all.extend(peers.iter().filter_map(|peer| self.compare(row, volume, peer).ok()));
            }
        }
        all
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
