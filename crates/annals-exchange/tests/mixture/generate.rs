//! Random changes, transactions and edits of trees, mostly such as the model allows.

use crate::edit::{EditKind, Path, Plain, TreeEdit, Work};
use crate::model::{Age, Change, Fields, Known, Patched, item_step, key_of};
use crate::world::World;

/// Ids are few, so that purged ones are used again.
const IDS: usize = 8;
/// Ids of entities of the other collection.
const COPIES: usize = 3;
/// Most live entities.
const LIVE_MAX: usize = 14;
/// Unique values, fewer than instances.
const CODES: usize = 5;
/// Names of children, which clash.
pub(crate) const NAMES: [&str; 3] = ["a", "b", "c"];

impl World {
    /// The parts of a transaction: one change, several, or edits of a tree among them.
    pub(crate) fn any_works(&mut self) -> Vec<Work> {
        let works: Vec<Work> = match self.random.below(10) {
            0 if self.random.one_in(if self.model.rules.is_empty() { 2 } else { 1 }) => self.declaring(),
            0..6 => self.any_change().map(Work::Direct).into_iter().collect(),
            6..8 => vec![Work::Tree(self.any_edit())],
            8 => {
                let changes = if self.random.one_in(2) { self.rekey() } else { self.swap() };
                changes.into_iter().map(Work::Direct).collect()
            }
            _ => self.several(),
        };
        let has_undo = works.iter().any(|work| matches!(work, Work::Direct(Change::Undo { .. })));
        if has_undo || self.random.one_in(6) { works } else { self.repaired(works) }
    }

    /// Several parts, mostly such as the model allows after each other. None is an undo: how many versions several changes
    /// of an instance make, and so which one it would take back, is left open.
    pub(crate) fn several(&mut self) -> Vec<Work> {
        let (mut works, position) = (Vec::new(), self.position() + 1);
        for _ in 0..8 {
            let Some(work) = self.any_work() else { continue };
            works.push(work);
            let tried = self.model.clone().attempt(position, &works, &mut self.count);
            if tried.is_err() && !self.random.one_in(12) {
                works.pop();
            }
            if works.len() == 4 {
                break;
            }
        }
        works
    }

    fn any_work(&mut self) -> Option<Work> {
        match self.random.one_in(4) {
            true => Some(Work::Tree(self.any_edit())),
            false => {
                let change = self.any_change().filter(|change| !matches!(change, Change::Undo { .. }));
                change.map(Work::Direct)
            }
        }
    }

    /// Two nodes exchange their codes; or one takes the code of another, which is deleted or purged in the same
    /// transaction, before or after.
    fn swap(&mut self) -> Vec<Change> {
        let has_code = |known: &&Known| !known.is_link && known.now().is_live && !known.is_copy;
        let all: Vec<(String, Option<i64>)> = self
            .model
            .all
            .values()
            .filter(has_code)
            .map(|known| (known.now().id.clone(), known.now().fields.code))
            .collect();
        if all.len() < 2 {
            return Vec::new();
        }
        let ((one, own), (other, theirs)) =
            (self.random.choose(&all).clone(), self.random.choose(&all).clone());
        let give = |id: &String, code| Change::Patch {
            id: id.clone(),
            patch: Patched { code: Some(code), ..Patched::default() },
        };
        let mut changes = match self.random.below(6) {
            0..3 => vec![give(&one, theirs), give(&other, own)],
            3 | 4 => vec![give(&one, theirs), Change::Delete { is_link: false, id: other }],
            _ => vec![give(&one, theirs), Change::Purge { is_link: false, id: other }],
        };
        if self.random.one_in(3) {
            changes.reverse();
        }
        changes
    }

    /// Two items of a list: one takes the key of the other, which stays, or is deleted first; or they exchange their keys.
    fn rekey(&mut self) -> Vec<Change> {
        let keys = |age: &Age| -> Vec<(String, i64)> {
            let children = self.model.steps(*age).into_iter();
            let items = children.filter_map(|(_, step, child)| Some((child, key_of(&step)?)));
            items.map(|(child, key)| (self.model.all[&child].now().id.clone(), key)).collect()
        };
        let lists: Vec<_> = self.model.all.keys().map(keys).filter(|items| items.len() > 1).collect();
        if lists.is_empty() {
            return Vec::new();
        }
        let items = self.random.choose(&lists);
        let at = self.random.below(items.len());
        let ((one, own), (other, theirs)) = (items[at].clone(), items[(at + 1) % items.len()].clone());
        let give = |id: &String, n| Change::Set { is_link: false, id: id.clone(), n };
        match self.random.below(3) {
            0 => vec![give(&one, theirs)],
            1 => vec![Change::Delete { is_link: false, id: other }, give(&one, theirs)],
            _ => vec![give(&one, 9), give(&other, own), give(&one, theirs)],
        }
    }

    fn any_code(&mut self) -> Option<i64> {
        (!self.random.one_in(3)).then(|| self.random.below(CODES) as i64)
    }

    /// Properties of a node, seldom such as it must not have.
    fn any_fields(&mut self) -> Fields {
        let n = match self.random.below(20) {
            0 => None,
            1 => Some(10),
            _ => Some(self.random.below(3) as i64),
        };
        Fields { n, code: self.any_code(), stored: None }
    }

    fn any_id(&mut self, is_link: bool) -> String {
        format!("{}{}", if is_link { "r" } else { "e" }, self.random.below(IDS))
    }

    pub(crate) fn any_change(&mut self) -> Option<Change> {
        let fields = self.any_fields();
        let kind = self.random.below(30);
        let alive = self.model.all.values().filter(|known| !known.is_link && known.now().is_live);
        let live: Vec<String> = alive.map(|known| known.now().id.clone()).collect();
        if live.len() < 3 || (kind < 3 && live.len() < LIVE_MAX) {
            let type_name = if self.random.one_in(4) { "item" } else { "node" };
            let id = self.any_id(false);
            return Some(Change::Create { id, type_name, fields });
        }
        let (from, to) = (self.random.choose(&live).clone(), self.random.choose(&live).clone());
        self.count += 1;
        match kind {
            3..6 => {
                let name = match self.random.one_in(2) {
                    true => (*self.random.choose(&NAMES)).to_owned(),
                    false => format!("n{}", self.count),
                };
                let name = Some(name);
                return Some(Change::Contain { id: self.any_id(true), from, to, name, n: Some(0) });
            }
            6 => return Some(Change::Relate { id: self.any_id(true), from, to }),
            20..23 => {
                let id = format!("f{}", self.random.below(COPIES));
                let known = self.model.find(false, &id).map(|age| &self.model.all[&age]);
                let is_vague = |known: &Known| !known.now().is_live && self.vague.contains(&known.place().0);
                return Some(match kind {
                    20 => Change::SaveCopy { id, fields },
                    21 => Change::Rehome { id },
                    _ if known.is_some_and(is_vague) => return None,
                    _ => Change::PurgeCopy { id },
                });
            }
            23 if live.len() < LIVE_MAX => return Some(Change::Upsert { id: self.any_id(false), fields }),
            _ => {}
        }
        let is_known = |(_, known): &(&Age, &Known)| !known.is_opaque || known.now().is_live;
        let all: Vec<(bool, String, (bool, bool))> = self
            .model
            .all
            .iter()
            .filter(is_known)
            .filter(|(_, known)| !known.now().id.starts_with('?'))
            .map(|(_, known)| {
                let bases = (known.has_sure_base(), known.has_sure_bases());
                (known.is_link, known.now().id.clone(), bases)
            })
            .collect();
        if all.is_empty() {
            return None;
        }
        let (is_link, id, (has_sure_base, has_sure_bases)) = self.random.choose(&all).clone();
        let is_typed = self.is_typed(&id);
        let random = &mut self.random;
        Some(match kind {
            7 => {
                let license = random.one_in(3).then(|| random.below(3) as u8);
                Change::License { is_link, id, n: fields.n.unwrap_or_default(), license }
            }
            8 | 9 => Change::Set { is_link, id, n: fields.n.unwrap_or_default() },
            10 if !is_link => Change::Store { id, byte: random.below(4) as u8 },
            11..13 => Change::Delete { is_link, id },
            13..15 => Change::Restore { is_link, id, with: is_link || random.one_in(2) },
            15 if has_sure_base => {
                Change::Undo { is_link, id, of_content: has_sure_bases && random.one_in(2) }
            }
            16 if is_link => Change::Relink { id, from, to: random.one_in(2).then_some(to) },
            17 => {
                let prefix = if is_link { "r0" } else { "e0" };
                Change::Reidentify { is_link, id, new: format!("{prefix}{}", self.count) }
            }
            24 | 25 if !is_link => {
                let patch = Patched {
                    n: random.one_in(3).then_some(fields.n),
                    code: random.one_in(2).then_some(fields.code),
                    stored: random.one_in(4).then_some(None),
                };
                Change::Patch { id, patch }
            }
            26 if !is_link => Change::Replace { id, fields },
            28 if !is_link && is_typed && random.one_in(2) => {
                let type_name = if self.random.one_in(2) { "node" } else { "item" };
                Change::Retype { id, type_name }
            }
            27 if is_link => Change::Rename { id, name: (*random.choose(&NAMES)).to_owned() },
            _ if random.one_in(4) => Change::Purge { is_link, id },
            _ => return None,
        })
    }

    /// True for a node or an item.
    fn is_typed(&self, id: &str) -> bool {
        let known = self.model.find(false, id).map(|age| self.model.all[&age].now().type_name);
        known.is_some_and(|name| ["node", "item"].contains(&name))
    }

    /// A change of the tree below the root, or below another entity, mostly one that has children.
    pub(crate) fn any_edit(&mut self) -> TreeEdit {
        let alive = self.model.all.values().filter(|known| known.now().is_live);
        let (links, entities): (Vec<&Known>, Vec<&Known>) = alive.partition(|known| known.is_link);
        let parents = links.iter().filter(|known| known.contains());
        let parents = parents.filter_map(|known| known.now().ends.map(|ends| &self.model.all[&ends[0]]));
        let id_of = |known: &Known| known.now().id.clone();
        let parents: Vec<String> = parents.map(id_of).collect();
        let all: Vec<String> = entities.into_iter().map(id_of).collect();
        let root = match self.random.below(6) {
            0..4 if !parents.is_empty() => self.random.choose(&parents).clone(),
            4 if !all.is_empty() => self.random.choose(&all).clone(),
            _ => annals::ROOT_ID.to_owned(),
        };
        self.any_edit_below(root)
    }

    /// A change of the tree below an entity.
    pub(crate) fn any_edit_below(&mut self, root: String) -> TreeEdit {
        let (there, path) = (self.any_path(&root, true), self.any_path(&root, false));
        let item = self.any_item(path.last().expect("a step"), 2);
        let replacing = self.any_item(there.last().expect("a step"), 1);
        let kind = match self.random.below(16) {
            0 => EditKind::Create { path, item },
            1..4 => EditKind::Merge { path, item },
            4..6 => EditKind::Put { path, item },
            6 => EditKind::Put { path: there, item: replacing },
            7 => EditKind::Replace { path: there, item: replacing },
            8 => EditKind::Set { path, n: self.random.below(3) as i64 },
            9 => EditKind::Unset { path: there },
            10 => EditKind::Delete { path: there },
            11..14 => EditKind::Move { from: there, to: path },
            _ => EditKind::Copy { from: there, to: path },
        };
        TreeEdit { root, kind }
    }

    /// A path of one to three steps: to an item if there is one, or mostly with a last step to nothing.
    pub(crate) fn any_path(&mut self, root: &str, is_there: bool) -> Path {
        let mut path = Path::new();
        let mut at = self.model.live(false, root).ok();
        let length = 1 + self.random.below(3);
        while path.len() < length {
            let children = at.map_or(Vec::new(), |at| self.model.steps(at));
            let names: Vec<String> = children.into_iter().map(|(_, step, _)| step).collect();
            if names.is_empty() && is_there && !path.is_empty() {
                break;
            }
            let is_last = path.len() + 1 == length;
            let is_new = if is_there { self.random.one_in(12) } else { is_last && !self.random.one_in(3) };
            let name = match names.is_empty() || is_new {
                true => self.any_step(),
                false => self.random.choose(&names).clone(),
            };
            at = at.and_then(|at| self.model.child(at, &name)).map(|(_, child)| child);
            path.push(name);
        }
        path
    }

    /// A step to a child by its name, or to an item of a list by its key.
    fn any_step(&mut self) -> String {
        match self.random.one_in(3) {
            true => item_step(self.random.below(3) as i64),
            false => (*self.random.choose(&NAMES)).to_owned(),
        }
    }

    /// A list so long that its items are created in a run.
    pub(crate) fn any_list(&mut self) -> Vec<(String, Plain)> {
        let count = 5 + self.random.below(if self.model.is_pushed { 40 } else { 4 });
        let steps = (0..count).map(|n| item_step(n as i64));
        let mut list: Vec<_> = steps.map(|step| (step.clone(), self.any_item(&step, 0))).collect();
        if self.random.one_in(2) {
            // Each has another code, which is the key of one of them.
            let shift = self.random.below(2);
            for (n, (_, item)) in list.iter_mut().enumerate() {
                item.fields.code = (n < CODES).then_some(((n + shift) % CODES) as i64);
            }
        }
        list
    }

    /// An item with its subtree for the end of a path.
    fn any_item(&mut self, step: &str, levels: usize) -> Plain {
        let mut item = Plain::default();
        match (key_of(step), self.random.one_in(2)) {
            (Some(key), _) => {
                let code = if self.random.one_in(2) { self.any_code() } else { None };
                item.fields = Fields { code, ..Fields::n(key) };
            }
            (None, true) => {
                item.type_name = Some("node");
                item.fields = self.any_fields();
                item.id = self.random.one_in(2).then(|| self.any_id(false));
            }
            (None, false) => item.fields.n = self.random.one_in(2).then(|| self.random.below(3) as i64),
        }
        let is_long = self.model.is_pushed || !self.model.rules.is_empty();
        if levels > 0 && self.random.one_in(if is_long { 4 } else { 12 }) {
            item.children = self.any_list();
        }
        while levels > 0 && self.random.one_in(2) {
            let step = self.any_step();
            if !item.children.iter().any(|(known, _)| *known == step) {
                let child = self.any_item(&step, levels - 1);
                item.children.push((step, child));
            }
        }
        item
    }
}
