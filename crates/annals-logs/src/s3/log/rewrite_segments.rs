//! Rewrites records into segments beside those in force, and puts them in place by one change of the manifest: compaction
//! removes purged instances so.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use annals::log::{
    Appended, Call, Log, LogId, ReadLimit, Rewrite, RewriteRecord, RewriteReport, Rewritten, check_read,
};
use annals::{Error, ErrorKind, Position, Result};

use super::S3Log;
use super::call::{CallHeader, WholeCall, wide};
use super::leaving::{Leaving, clean, put_list, remove_list};
use super::look::{look, refresh};
use super::manifest::{Manifest, Segment};
use super::manifest_object::KnownManifest;
use super::merge::{ChangeName, discard, merge, put_in_force, put_segment};
use super::read_records::{ReadFailure, damaged_segment, read_segment, segment_key};
use super::segment::{SegmentCalls, SegmentWriter};
use crate::call_body::Body;

impl Rewrite for S3Log {
    fn seal(&self) -> Result<Position> {
        self.shared.check_writer("seal")?;
        let _one = self.shared.upkeep.lock().unwrap_or_else(PoisonError::into_inner);
        refresh(&self.shared)?;
        look(&self.shared)?;
        Ok(merge(&self.shared)?.manifest.end().position)
    }

    fn rewrite(&self, last: Position, change: &mut RewriteRecord<'_>) -> Result<Box<dyn Rewritten + '_>> {
        self.shared.check_writer("rewrite")?;
        let one = self.shared.upkeep.lock().unwrap_or_else(PoisonError::into_inner);
        let known = self.shared.known();
        if last > known.manifest.end().position {
            let text = format!(
                "{}: rewrite up to {last}: expected a position that is in a segment; seal it",
                self.describe()
            );
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
        if self.shared.is_rewriting.swap(true, Ordering::SeqCst) {
            let text =
                format!("{}: rewrite: expected no other rewriting, found one; wait for it", self.describe());
            return Err(Error::new(ErrorKind::Busy, text));
        }
        drop(one);
        let next = known.manifest.changed();
        let mut rewritten = RewrittenSegments {
            log: self,
            known,
            next,
            fresh: Vec::new(),
            leaving: Leaving::default(),
            report: RewriteReport::default(),
        };
        rewritten.prepare(last, change)?;
        Ok(Box::new(rewritten))
    }
}

/// Segments that were rewritten, in the bucket beside those in force.
struct RewrittenSegments<'l> {
    log: &'l S3Log,
    /// The manifest that they were made from.
    known: Arc<KnownManifest>,
    /// The manifest that is to be in force.
    next: Manifest,
    /// The segments that it brings.
    fresh: Vec<Segment>,
    leaving: Leaving,
    report: RewriteReport,
}

impl RewrittenSegments<'_> {
    /// Calls `change` for each record up to `last`, and puts the segments in which one changes.
    fn prepare(&mut self, last: Position, change: &mut RewriteRecord<'_>) -> Result<()> {
        let name = ChangeName::of(&self.next);
        let before = self.next.segments.clone();
        for (at, segment) in before.iter().enumerate().take_while(|(_, segment)| segment.first <= last) {
            let Some(writer) = self.rewrite_segment(segment, last, change)? else { continue };
            let fresh = put_segment(&self.log.shared, writer, name)?;
            self.fresh.push(fresh.clone());
            self.leaving.segments.push(segment.name.clone());
            self.report.segments_count += 1;
            if let Some(place) = self.next.segments.get_mut(at) {
                *place = fresh;
            }
        }
        self.next.rewrite(last);
        Ok(())
    }

    /// Shape: the segment with its changed records; `None` if none changes.
    fn rewrite_segment(
        &mut self,
        segment: &Segment,
        last: Position,
        change: &mut RewriteRecord<'_>,
    ) -> Result<Option<SegmentWriter>> {
        let shared = &self.log.shared;
        let damaged = |error: Error| damaged_segment(shared, segment, &error);
        let mut calls = SegmentCalls::new(shared.bucket(), segment_key(shared, &segment.name)?, segment);
        let (mut writer, changed_before) = (SegmentWriter::new(shared.bucket()), self.report.records_count);
        while let Some((header, bytes)) = calls.next()? {
            let call = WholeCall::decode(&bytes).map_err(damaged)?;
            let (mut records, mut changed) = (Vec::new(), 0);
            for (position, record) in (header.first.0..).map(Position).zip(call.records().map_err(damaged)?) {
                let new = if position <= last { change(position, record)? } else { None };
                changed += u64::from(new.is_some());
                records.push(new.map_or(std::borrow::Cow::Borrowed(record), std::borrow::Cow::Owned));
            }
            if changed == 0 {
                writer.add(&header, &bytes)?;
                continue;
            }
            self.report.records_count += changed;
            self.leaving.calls.push(header.first);
            let bytes = records.iter().map(|record| record.len()).sum();
            let body = Body::encode(records.iter().map(|record| &**record), bytes)?;
            let header = CallHeader { body_bytes: wide(bytes), ..header };
            let mut call = header.encode(&body.index);
            call.extend_from_slice(&body.body);
            writer.add(&header, &call)?;
        }
        Ok((self.report.records_count > changed_before).then_some(writer))
    }
}

impl Log for RewrittenSegments<'_> {
    fn tail(&self) -> Result<Position> {
        self.log.tail()
    }

    fn append_call(&self, _: &Call<'_>) -> Appended {
        let text =
            format!("{}: append: expected the log in force, found one that is prepared", self.describe());
        Appended::Refused(Error::new(ErrorKind::ReadOnly, text))
    }

    fn read(&self, from: Position, limit: ReadLimit) -> Result<Vec<Vec<u8>>> {
        check_read(self, from)?;
        if from > self.next.end().position {
            return self.log.read(from, limit);
        }
        read_segment(&self.log.shared, &self.next, from, limit).map_err(|failure| match failure {
            ReadFailure::Failed(error) => error,
            ReadFailure::Moved => {
                let text = format!("{}: another rewriting was put in place first; retry", self.describe());
                Error::new(ErrorKind::Conflict, text)
            }
        })
    }

    fn describe(&self) -> String {
        format!("rewritten {}", self.log.describe())
    }

    fn id(&self) -> LogId {
        self.log.id()
    }

    fn generation(&self) -> u64 {
        self.next.generation
    }
}

impl Rewritten for RewrittenSegments<'_> {
    fn report(&self) -> RewriteReport {
        self.report
    }

    fn put_in_place(mut self: Box<Self>) -> Result<()> {
        let S3Log { shared } = self.log;
        let _one = shared.upkeep.lock().unwrap_or_else(PoisonError::into_inner);
        let name = ChangeName::of(&self.next);
        // Order: the list first, so that whatever comes later, the bytes leave.
        put_list(shared, name, &self.leaving)?;
        let mut next = self.next.clone();
        next.leaving.push(name.to_string());
        // Whatever becomes of them, it is done here.
        let fresh = std::mem::take(&mut self.fresh);
        match put_in_force(shared, Ok(next), &self.known, &fresh) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::Unavailable => {
                let text = format!(
                    "{}: whether the rewritten log is in force is unknown; open the log again",
                    shared.describe()
                );
                return Err(Error::new(ErrorKind::Unavailable, text).caused_by(error));
            }
            Err(error) => {
                remove_list(shared, name);
                return Err(error);
            }
        }
        // Whatever cannot be removed now is removed by the next opening, or the next rewriting.
        let _ = clean(shared);
        Ok(())
    }
}

impl Drop for RewrittenSegments<'_> {
    fn drop(&mut self) {
        discard(&self.log.shared, &self.fresh);
        self.log.shared.is_rewriting.store(false, Ordering::SeqCst);
    }
}
