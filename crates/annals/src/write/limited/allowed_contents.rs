//! The contents that a writer with grants may name: the digest of a content gives nobody its bytes.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::contents::{missing, no_contents};
use crate::graph::kind_of;
use crate::model::{Change, Content, InstanceId, Sha256, TypeKind};
use crate::record::each_named_content;
use crate::write::build::transaction::Transaction;
use crate::{Result, StoredContent};

impl Transaction {
    /// Lets a limited writer name a content that it has just sent.
    pub fn allow_content(&mut self, content: &StoredContent) {
        self.allowed_contents.insert(content.sha256);
    }

    /// Allows the contents of a change whose values return from versions that the writer sees.
    pub(in crate::write) fn allow_returning(&mut self, change: &Change) -> Result<()> {
        if self.rights.is_none() || !self.is_returning {
            return Ok(());
        }
        each_named_content(change, &mut |content| {
            self.allowed_contents.insert(content.sha256);
            Ok(())
        })
    }

    /// Refuses contents that the writer has neither sent nor sees in an instance, as if the store did not have them.
    ///
    /// Errors: `NotFound`; `InvalidArgument` without a store; those of reading long values.
    pub(super) fn check_contents(&mut self) -> Result<()> {
        let mut named: Vec<Sha256> = Vec::new();
        for change in &self.record.changes {
            each_named_content(change, &mut |Content { sha256, .. }| {
                if !self.allowed_contents.contains(sha256) {
                    named.push(*sha256);
                }
                Ok(())
            })?;
        }
        if named.is_empty() {
            return Ok(());
        }
        self.committer.contents.as_ref().ok_or_else(no_contents)?;
        let mut wanted: BTreeSet<Sha256> = named.iter().copied().collect();
        self.find_contents(&mut wanted)?;
        match named.into_iter().find(|sha256| wanted.contains(sha256)) {
            Some(sha256) => Err(missing(sha256)),
            None => Ok(()),
        }
    }

    /// Removes from `wanted` the contents of instances that the writer sees, live or deleted, as they are in the base.
    fn find_contents(&mut self, wanted: &mut BTreeSet<Sha256>) -> Result<()> {
        let (base, record) = (self.base.unsighted(), Arc::clone(&self.record));
        let writer = self.writer_graph()?;
        base.find_default_contents(wanted)?;
        let slot_of = |instance: InstanceId| {
            let kind = kind_of(&instance);
            base.graph().table(kind).slot(instance.id()).map(|slot| (kind, slot))
        };
        // Order: mostly an instance keeps the content that it has.
        let named = record.changes.iter().filter_map(|change| change.action.instance()).filter_map(slot_of);
        let all = [TypeKind::Entity, TypeKind::Relationship].into_iter().flat_map(|kind| {
            let table = base.graph().table(kind);
            table.live_slots().iter().chain(table.dead_slots().iter()).map(move |slot| (kind, slot))
        });
        for (kind, slot) in named.chain(all).filter(|(kind, slot)| writer.sees(*kind, *slot)) {
            if wanted.is_empty() {
                break;
            }
            base.find_contents_of(kind, slot, wanted)?;
        }
        Ok(())
    }
}
