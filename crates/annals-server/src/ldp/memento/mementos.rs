//! The mementos of a resource, from its history: one for each second in which the resource got a version.

use annals::{AsOf, ErrorKind, History, InstanceId, Snapshot, Status, VersionInfo};

use super::second::Second;
use crate::ldp::mapping::path::Path;
use crate::ldp_types::PLACEHOLDER;
use crate::protocol::problem::Problem;

/// Versions read together.
const PAGE: usize = 1_000;
/// Most mementos that a time map lists: the newest.
pub const MEMENTOS_MAX: usize = 100_000;

/// The history of a resource.
pub struct Mementos<'s> {
    snapshot: &'s Snapshot,
    path: &'s Path,
}

impl<'s> Mementos<'s> {
    /// The history of the resource at a path, also of a deleted one.
    pub fn of(snapshot: &'s Snapshot, path: &'s Path) -> Mementos<'s> {
        Mementos { snapshot, path }
    }

    /// The seconds of all mementos, ascending; the newest, if there are too many. Empty if there was never a resource.
    pub fn seconds(&self) -> Result<Vec<Second>, Problem> {
        let mut seconds: Vec<Second> = Vec::new();
        let (mut skip, mut is_resource) = (0, false);
        loop {
            let page = self.versions(&History { skip, is_oldest_first: true, ..page() })?;
            for version in &page {
                // Only these versions can make a placeholder of a resource, or a resource of a placeholder.
                if skip == 0 || version.verb == "retype" {
                    is_resource = self.is_resource(version)?;
                }
                skip += 1;
                let second = Second::of(version.instant);
                if is_resource && version.status != Status::Deleted && seconds.last() != Some(&second) {
                    seconds.push(second);
                }
            }
            if page.is_empty() {
                seconds.drain(..seconds.len().saturating_sub(MEMENTOS_MAX));
                return Ok(seconds);
            }
        }
    }

    /// The second of the memento for a time: the last one up to it, or the first one if that is later; `None` if there was
    /// never a resource.
    pub fn second_for(&self, wanted: Second) -> Result<Option<Second>, Problem> {
        let until = History { to: Some(wanted.end()), ..page() };
        let since = History { is_oldest_first: true, ..page() };
        let found = self.first_resource(until)?.or(self.first_resource(since)?);
        Ok(found.map(|version| Second::of(version.instant)))
    }

    /// The snapshot that a memento shows, after its second: as of its end, or before the resource was deleted in that
    /// second; `None` if there is no memento.
    pub fn snapshot_of(&self, second: Second) -> Result<Option<Snapshot>, Problem> {
        let Some(version) = self.last_of(second)? else { return Ok(None) };
        let end = self.snapshot.as_of(AsOf { instant: Some(second.last()), ..AsOf::default() })?;
        let is_kept = end.entity(&self.path.id())?.is_some_and(|entity| entity.type_name() != PLACEHOLDER);
        if is_kept {
            return Ok(Some(end));
        }
        Ok(Some(self.snapshot.as_of(AsOf { position: Some(version.position), ..AsOf::default() })?))
    }

    /// The last version of a second in which the entity is a resource.
    fn last_of(&self, second: Second) -> Result<Option<VersionInfo>, Problem> {
        let within = History { from: Some(second.start()), to: Some(second.end()), ..page() };
        let found = self.first_resource(within)?;
        // The first version of a history is the one that was current at its start.
        Ok(found.filter(|version| Second::of(version.instant) == second))
    }

    /// The first version of a history in which the entity is a resource.
    fn first_resource(&self, history: History) -> Result<Option<VersionInfo>, Problem> {
        let mut history = History { limit: 1, ..history };
        loop {
            let page = self.versions(&history)?;
            if page.is_empty() {
                return Ok(None);
            }
            history.skip += page.len();
            history.limit = PAGE;
            for version in page {
                if self.is_resource(&version)? {
                    return Ok(Some(version));
                }
            }
        }
    }

    fn is_resource(&self, version: &VersionInfo) -> Result<bool, Problem> {
        if version.status == Status::Deleted {
            return Ok(false);
        }
        let entity = self.snapshot.entity_version(&self.path.id(), version.version)?;
        Ok(entity.is_some_and(|entity| entity.type_name() != PLACEHOLDER))
    }

    fn versions(&self, history: &History) -> Result<Vec<VersionInfo>, Problem> {
        match self.snapshot.history(&InstanceId::Entity(self.path.id()), history) {
            Ok(versions) => Ok(versions),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        }
    }
}

fn page() -> History {
    History { limit: PAGE, ..History::default() }
}
