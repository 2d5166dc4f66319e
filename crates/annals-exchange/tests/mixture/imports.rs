//! Imports that are interrupted, taken back, and resumed: each line that is not refused is there in the end.

use annals::*;
use annals_exchange::import::Run;

use crate::exchange::load;
use crate::see::of_snapshot;
use crate::world::World;

impl World {
    /// Imports a part of a file, takes some of its records back, and resumes it with the whole file.
    pub(crate) fn import_and_resume(&mut self) {
        self.count += 1;
        let (file, count) = (format!("file-{}", self.count), 5 + self.random.below(8));
        let ids: Vec<String> = (0..count).map(|number| format!("{file}-{number}")).collect();
        let line = |id: &String| format!("{{\"entity\": {{\"id\": \"{id}\", \"type\": \"container\"}}}}\n");
        let lines: Vec<String> = ids.iter().map(line).collect();
        let (first, begun) = (self.position() + 1, self.random.below(count + 1));
        let run = Run::begin(self.repository());
        let text = lines[..begun].concat();
        load(self.repository(), (&file, false), text.as_bytes(), run, None, None).expect("it loads");
        let last = self.position();
        self.history.push(format!("{first} to {last}: import of {begun} lines of {count}"));
        self.take_import();
        if last >= first && self.random.one_in(2) {
            let from = first + self.random.below((last - first + 1) as usize) as u64;
            let taken = Position(from)..=Position(last);
            self.repository().transact(|t| t.take_back_all(taken.clone(), None)).expect("nobody built on it");
            self.history.push(format!("{}: take back {from} to {last}", self.position()));
            self.take_import();
        }
        let run = Run::latest(self.repository(), &file, &()).expect("its marks");
        let text = lines.concat();
        let summary =
            load(self.repository(), (&file, true), text.as_bytes(), run, None, None).expect("it loads");
        self.history.push(format!("{}: resume: {summary:?}", self.position()));
        self.take_import();
        let snapshot = self.repository().snapshot();
        let is_there =
            |name: &&String| snapshot.entity(&crate::see::id(name)).is_ok_and(|found| found.is_some());
        let there = ids.iter().filter(is_there).count() as u64;
        assert_eq!(there + summary.refused_count, count as u64, "{summary:?}: {}", self.what());
    }

    /// Takes what an import has made.
    fn take_import(&mut self) {
        let (after, position) =
            (of_snapshot(self.repository(), &self.repository().snapshot()), self.position());
        self.model.take(&after, position);
        self.vague.insert(position);
        self.note();
    }
}
