//! Looks for purged instances: no record that is followed has a change of it, and no candidate an edit.

use annals::*;

use crate::world::World;

impl World {
    /// True if a change names an instance that there is, or was, or if it is the purge. The engine chooses other ids, of
    /// which the model does not know all.
    fn is_known(&self, change: &annals::Change) -> bool {
        let Some(instance) = change.action.instance() else { return true };
        let (is_link, id) = match &instance {
            InstanceId::Entity(id) => (false, id.to_string()),
            InstanceId::Relationship(id) => (true, id.to_string()),
        };
        let is_purge = matches!(change.action, Action::Purge(_) | Action::PurgeCopy(_));
        is_purge || !id.starts_with(['e', 'f', 'r']) || self.model.is_taken(is_link, &id)
    }

    /// The last records, as a follower gets them.
    pub(crate) fn check_followed(&self) {
        let mut follow = self.repository().follow(Position(self.position().saturating_sub(40)));
        while let Some((position, record)) = follow.poll().expect("it can be read") {
            let purged = record.changes.iter().find(|change| !self.is_known(change));
            assert!(purged.is_none(), "record {position} has {purged:?}: {}", self.what());
        }
    }

    /// The edits of the candidate, which may create what they name.
    pub(crate) fn check_edited(&self) {
        if self.candidate.is_none() {
            return;
        }
        let edits = self.repository().candidates().edits("c").expect("its edits");
        let named = |edit: &annals::Change| match &edit.action {
            Action::CreateEntity(_) | Action::CreateRelationship(_) | Action::SaveEntity(_) => {
                edit.action.instance()
            }
            Action::Reidentify(change) => Some(match change.instance {
                InstanceId::Entity(_) => InstanceId::Entity(change.id.clone()),
                InstanceId::Relationship(_) => InstanceId::Relationship(change.id.clone()),
            }),
            _ => None,
        };
        let own: Vec<InstanceId> = edits.iter().filter_map(named).collect();
        let is_own = |edit: &annals::Change| edit.action.instance().is_some_and(|one| own.contains(&one));
        let purged = edits.iter().find(|edit| !is_own(edit) && !self.is_known(edit));
        assert!(purged.is_none(), "the candidate has {purged:?}: {}", self.what());
    }
}
