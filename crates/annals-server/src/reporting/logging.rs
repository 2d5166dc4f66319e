//! The log of the server: lines of text or JSON, to standard error or to a file that can be reopened.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use annals::{Error, ErrorKind, Result};
use prometheus_client::metrics::counter::Counter;
use tracing::{Level, Metadata};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

use crate::protocol::masking::masked;

/// Lines that wait for their reader, and as many again are being written: some seconds of a busy server. Units: bytes.
const QUEUE_BYTES_MAX: usize = 1 << 20;
/// How long a line waits for others, which are written with it, unless it warns: waking the writing thread for each line would take a
/// fifth of the processor of a busy server.
const GATHER_TIME: Duration = Duration::from_millis(10);
/// How long the end of the server waits for the reader of the log.
const FINISH_TIME_MAX: Duration = Duration::from_secs(1);

/// The filter and the destination of the log.
#[derive(Clone, Debug)]
pub struct LogSettings {
    /// Least level of a line: `off`, `error`, `warn`, `info`, `debug`, `trace`; or by target, as
    /// `info,annals::request=off`.
    pub filter: String,
    /// Lines of JSON instead of text.
    pub is_json: bool,
    /// File that lines are appended to; standard error without one.
    pub file: Option<PathBuf>,
}

impl Default for LogSettings {
    fn default() -> LogSettings {
        LogSettings { filter: "info".into(), is_json: false, file: None }
    }
}

impl LogSettings {
    /// Reads the filter.
    ///
    /// Errors: `InvalidArgument` if it does not read.
    fn filter(&self) -> Result<Targets> {
        let expected = "expected a level (off, error, warn, info, debug, trace) or levels by target such as \
                        info,annals::request=off";
        let invalid = |part: &str| {
            let text = format!("log {:?}: {expected}, found {part:?}", self.filter);
            Error::new(ErrorKind::InvalidArgument, text)
        };
        // A single word would be read as a target with all its lines: most likely it is a mistyped level.
        for part in self.filter.split(',') {
            let level = part.split_once('=').map_or(part, |(_, level)| level);
            // An empty text would be read as a level, too.
            let is_level = !level.is_empty() && level.parse::<LevelFilter>().is_ok();
            is_level.then_some(()).ok_or_else(|| invalid(part))?;
        }
        self.filter.parse().map_err(|_| invalid(&self.filter))
    }

    /// Checks the settings. It changes nothing, except that it creates the file.
    ///
    /// Errors: `InvalidArgument` for a filter that does not read; `Io` if the file cannot be opened.
    pub fn check(&self) -> Result<()> {
        self.filter()?;
        self.file.as_ref().map_or(Ok(()), |path| open(path).map(drop))
    }
}

/// The destination of lines. All clones share one file.
///
/// A thread of its own writes the lines, because a reader that stands still (a full pipe, a stopped terminal) blocks
/// each write: only the log waits for it, and the server goes on. The lines wait in a bounded queue; further lines are
/// dropped and counted.
#[derive(Clone)]
pub struct LogFile {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    path: Option<PathBuf>,
    dropped: Counter,
    queue: Mutex<Queue>,
    /// Wakes the writing thread.
    filled: Condvar,
    /// Wakes the thread that waits for the end.
    emptied: Condvar,
}

/// Lines that wait to be written.
#[derive(Default)]
struct Queue {
    steps: VecDeque<Step>,
    bytes: usize,
    /// Lines dropped since the writing thread reported the number last.
    dropped: u64,
    /// True if a step must not wait for others.
    is_urgent: bool,
    /// True while the writing thread is at a step that it has removed.
    is_writing: bool,
}

enum Step {
    Lines(Vec<u8>),
    Reopen,
}

impl LogFile {
    /// Starts the writing thread. Without a file it writes to standard error.
    ///
    /// Errors: `Io`.
    fn start(path: Option<PathBuf>) -> Result<LogFile> {
        let file = path.as_ref().map(open).transpose()?;
        let shared = Arc::new(Shared { path, ..Shared::default() });
        let writer = Arc::clone(&shared);
        std::thread::Builder::new()
            .name("annals-log".into())
            .spawn(move || writer.write_all(file))
            .map_err(|source| Error::io("start the thread annals-log", source))?;
        Ok(LogFile { shared })
    }

    /// Opens the file again under its name, behind the lines that wait, so that a renamed file can be removed. If that
    /// fails, the log continues with the old file. A line of the log says which.
    ///
    /// Shape: false if the log has no file.
    pub fn reopen(&self) -> bool {
        let mut queue = self.shared.lock();
        if self.shared.path.is_some() && !matches!(queue.steps.back(), Some(Step::Reopen)) {
            queue.steps.push_back(Step::Reopen);
            self.shared.hurry(&mut queue);
        }
        self.shared.path.is_some()
    }

    /// The number of lines that were dropped because no reader took them.
    pub fn dropped(&self) -> Counter {
        self.shared.dropped.clone()
    }

    /// Waits until the lines are written, for a bounded time: a reader that stands still must not keep the server.
    pub fn finish(&self) {
        let mut queue = self.shared.lock();
        self.shared.hurry(&mut queue);
        let is_busy = |queue: &mut Queue| queue.is_writing || !queue.steps.is_empty();
        drop(self.shared.emptied.wait_timeout_while(queue, FINISH_TIME_MAX, is_busy));
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hurry(&self, queue: &mut Queue) {
        queue.is_urgent = true;
        self.filled.notify_one();
    }

    fn push(&self, line: &[u8], is_urgent: bool) {
        let mut queue = self.lock();
        if queue.bytes + line.len() > QUEUE_BYTES_MAX {
            queue.dropped += 1;
            self.dropped.inc();
            return;
        }
        queue.bytes += line.len();
        // A full queue loses lines.
        if is_urgent || queue.bytes > QUEUE_BYTES_MAX / 2 {
            self.hurry(&mut queue);
        } else if queue.steps.is_empty() {
            self.filled.notify_one();
        }
        match queue.steps.back_mut() {
            Some(Step::Lines(lines)) => lines.extend_from_slice(line),
            _ => queue.steps.push_back(Step::Lines(line.to_vec())),
        }
    }

    /// Writes lines as long as the process lives. It locks the queue only between two writes.
    fn write_all(&self, mut file: Option<File>) {
        loop {
            let mut queue = self.lock();
            queue.is_writing = false;
            if queue.steps.is_empty() {
                self.emptied.notify_all();
            }
            let is_empty = |queue: &mut Queue| queue.steps.is_empty();
            queue = self.filled.wait_while(queue, is_empty).unwrap_or_else(PoisonError::into_inner);
            let can_wait = |queue: &mut Queue| !queue.is_urgent;
            let waited = self.filled.wait_timeout_while(queue, GATHER_TIME, can_wait);
            (queue, _) = waited.unwrap_or_else(PoisonError::into_inner);
            let step = queue.steps.pop_front().expect("it waited for a step");
            queue.is_urgent &= !queue.steps.is_empty();
            queue.is_writing = true;
            if let Step::Lines(lines) = &step {
                queue.bytes -= lines.len();
            }
            // A write may succeed although the reader is slow: one report for each half of the queue is enough.
            let dropped =
                if queue.bytes > QUEUE_BYTES_MAX / 2 { 0 } else { std::mem::take(&mut queue.dropped) };
            drop(queue);
            match step {
                // A full disk must not stop the server: the log loses lines then.
                Step::Lines(lines) => match &mut file {
                    Some(file) => drop(file.write_all(&lines)),
                    None => drop(io::stderr().write_all(&lines)),
                },
                Step::Reopen => self.reopen(&mut file),
            }
            if dropped > 0 {
                tracing::warn!(dropped, "lines of the log were dropped, because its reader stood still");
            }
        }
    }

    fn reopen(&self, file: &mut Option<File>) {
        let Some(path) = &self.path else { return };
        match open(path) {
            Ok(opened) => {
                *file = Some(opened);
                tracing::info!(signal = "SIGHUP", "log reopened");
            }
            Err(error) => {
                tracing::error!(signal = "SIGHUP", "the log continues in its old file: {error}");
            }
        }
    }
}

/// A line in progress. Warnings and errors are written at once, with all lines before them.
pub struct Line<'w> {
    log: &'w LogFile,
    is_urgent: bool,
}

impl Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Texts of clients are in many lines, and any of them may hold a token.
        match std::str::from_utf8(bytes) {
            Ok(text) => self.log.shared.push(masked(text).as_bytes(), self.is_urgent),
            Err(_) => self.log.shared.push(bytes, self.is_urgent),
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'w> MakeWriter<'w> for LogFile {
    type Writer = Line<'w>;

    fn make_writer(&'w self) -> Line<'w> {
        Line { log: self, is_urgent: false }
    }

    fn make_writer_for(&'w self, about: &Metadata<'_>) -> Line<'w> {
        Line { log: self, is_urgent: *about.level() <= Level::WARN }
    }
}

fn open(path: &PathBuf) -> Result<File> {
    OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .map_err(|source| Error::io("open the log file", source).with("path", path.display().to_string()))
}

/// Starts the log of this process. A process has one log: if there is one already, the new one stays silent.
///
/// Errors: `InvalidArgument` for a filter that does not read; `Io` if the file cannot be opened or no thread starts.
pub fn start(settings: &LogSettings) -> Result<LogFile> {
    let filter = settings.filter()?;
    let log = LogFile::start(settings.file.clone())?;
    let lines = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(log.clone());
    let lines = if settings.is_json {
        lines.json().flatten_event(true).with_current_span(false).with_span_list(false).boxed()
    } else {
        lines.boxed()
    };
    let _ = tracing_subscriber::registry().with(lines.with_filter(filter)).try_init();
    Ok(log)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_levels_alone_or_by_target() {
        let read = |filter: &str| LogSettings { filter: filter.into(), ..LogSettings::default() }.filter();
        for good in ["off", "info", "WARN", "info,annals::request=off", "annals::request=debug"] {
            assert!(read(good).is_ok(), "{good}");
        }
        for bad in ["", "verbose", "info,verbose", "annals::request=loud", "info,"] {
            let error = read(bad).unwrap_err();
            assert!(error.text().contains("expected a level (off, error"), "{bad}: {error}");
        }
    }

    #[test]
    fn a_file_that_was_renamed_is_left_when_the_log_is_reopened() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let log = LogFile::start(Some(path.clone())).unwrap();
        log.make_writer().write_all(b"one\n").unwrap();
        log.finish();
        std::fs::rename(&path, folder.path().join("log.1")).unwrap();
        log.make_writer().write_all(b"two\n").unwrap();
        assert!(log.reopen());
        log.make_writer().write_all(b"three\n").unwrap();
        log.finish();
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!((read("log.1").as_str(), read("log").as_str()), ("one\ntwo\n", "three\n"));
    }

    /// The writing thread waited for further lines until there was no room for any.
    #[test]
    fn lines_that_fill_half_of_the_room_wait_for_no_others() {
        let shared = Shared::default();
        let line = vec![b'x'; QUEUE_BYTES_MAX / 4];
        let is_urgent = |pushes: usize| {
            (0..pushes).for_each(|_| shared.push(&line, false));
            shared.lock().is_urgent
        };
        assert_eq!((is_urgent(2), is_urgent(1)), (false, true));
    }

    #[test]
    fn lines_of_many_threads_are_written_whole_and_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let log = LogFile::start(Some(path.clone())).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let log = &log;
                scope.spawn(move || {
                    (0..2_000).for_each(|line| {
                        log.make_writer().write_all(format!("{thread} {line}\n").as_bytes()).unwrap()
                    });
                });
            }
        });
        log.finish();
        let text = std::fs::read_to_string(&path).unwrap();
        for thread in 0..4 {
            let found = text.lines().filter_map(|line| line.strip_prefix(&format!("{thread} ")));
            assert!(found.eq((0..2_000).map(|line| line.to_string()).collect::<Vec<_>>()), "thread {thread}");
        }
        assert_eq!((text.lines().count(), log.dropped().get()), (8_000, 0));
    }
}
