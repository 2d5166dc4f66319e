//! Where instances stand in an order, for queries that find them in other ways than a search.

use super::order::Sorting;
use super::subject::Subject;
use crate::Result;
use crate::model::TypeKind;
use crate::read::held::Held;
use crate::read::snapshot::Snapshot;
use crate::search::{OrderBy, check_order};

impl Snapshot {
    /// The order that these keys make; `None` if there are none.
    ///
    /// Errors: `InvalidExpression` for free text; `TooLarge` for too many keys.
    pub(in crate::read) fn sorting(&self, order: &[OrderBy]) -> Result<Option<Sorting>> {
        check_order(order)?;
        Ok((!order.is_empty()).then(|| Sorting::by(self, order)))
    }

    /// Where the instance at `slot` stands, in the version that this snapshot sees, deleted or not.
    ///
    /// Shape: bytes that compare as the order says, and end with the slot: [`Sorting::slot`].
    /// Errors: those of reading history, which an order by nothing but ids needs not.
    pub(in crate::read) fn sort_key(&self, kind: TypeKind, slot: u32, sorting: &Sorting) -> Result<Vec<u8>> {
        let mut key = Vec::new();
        if sorting.is_by_id() {
            sorting.write_id_key(self.id_of(kind, slot), slot, &mut key);
            return Ok(key);
        }
        match self.seen(kind, slot, true)? {
            Some(Held::Read(version)) => {
                sorting.write_key(self, kind, slot, Subject::Read(kind, slot, version.row()), &mut key);
            }
            // What a walk came to is seen.
            Some(Held::InForce) | None => {
                sorting.write_key(self, kind, slot, Subject::InForce(kind, slot), &mut key)
            }
        }
        Ok(key)
    }
}
