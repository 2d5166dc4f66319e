//! Lines that exchange unique values: each is refused alone, and all of them together succeed.

use std::collections::HashMap;

use annals::Error;

use super::unit::Unit;

/// A line whose unique value another instance holds.
pub struct Clash {
    /// The line.
    pub unit: Unit,
    /// The reason why it was refused.
    pub error: Error,
}

impl Clash {
    /// A clash of its parts.
    pub fn of((unit, error): (Unit, Error)) -> Clash {
        Clash { unit, error }
    }

    /// The id of the instance that holds the value.
    pub fn holder(&self) -> Option<&str> {
        self.error.context().iter().find(|(name, _)| *name == "holder").map(|(_, id)| &**id)
    }

    /// The id of the instance of the line.
    pub fn id(&self) -> Option<String> {
        self.unit.written.instance.as_ref().map(|instance| instance.id().to_string())
    }
}

/// The lines in groups: a line and the holder of its value, if a line names that, are in one group.
pub fn groups(clashing: Vec<Clash>) -> Vec<Vec<Clash>> {
    let ids: HashMap<String, usize> =
        clashing.iter().enumerate().filter_map(|(index, clash)| Some((clash.id()?, index))).collect();
    // Each line leads to another one of its group, or to itself.
    let mut leaders: Vec<usize> = (0..clashing.len()).collect();
    for (index, clash) in clashing.iter().enumerate() {
        if let Some(&other) = clash.holder().and_then(|holder| ids.get(holder)) {
            let (one, other) = (leader(&leaders, index), leader(&leaders, other));
            leaders[one.max(other)] = one.min(other);
        }
    }
    let mut groups: Vec<Vec<Clash>> = Vec::new();
    let mut places: HashMap<usize, usize> = HashMap::new();
    for (index, clash) in clashing.into_iter().enumerate() {
        let place = *places.entry(leader(&leaders, index)).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Vec::new());
        }
        groups[place].push(clash);
    }
    groups
}

fn leader(leaders: &[usize], mut index: usize) -> usize {
    while leaders[index] != index {
        index = leaders[index];
    }
    index
}
