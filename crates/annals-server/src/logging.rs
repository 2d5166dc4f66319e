//! The log of the server: lines of text or JSON, to standard error or to a file that can be reopened.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use annals::{Error, ErrorKind, Result};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

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
#[derive(Clone)]
pub struct LogFile {
    path: Option<Arc<PathBuf>>,
    /// `None` for standard error.
    file: Arc<Mutex<Option<File>>>,
}

impl LogFile {
    /// Opens the file again under its name, so that a renamed file can be removed. If that fails, the log continues
    /// with the old file.
    ///
    /// Shape: false if the log has no file.
    /// Errors: `Io`.
    pub fn reopen(&self) -> Result<bool> {
        let Some(path) = &self.path else { return Ok(false) };
        let file = open(path)?;
        *self.file.lock().unwrap_or_else(PoisonError::into_inner) = Some(file);
        Ok(true)
    }
}

impl Write for &LogFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A full disk must not stop the server: the log loses lines then.
        match &mut *self.file.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(file) => drop(file.write_all(bytes)),
            None => drop(io::stderr().write_all(bytes)),
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'w> MakeWriter<'w> for LogFile {
    type Writer = &'w LogFile;

    fn make_writer(&'w self) -> &'w LogFile {
        self
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
/// Errors: `InvalidArgument` for a filter that does not read; `Io` if the file cannot be opened.
pub fn start(settings: &LogSettings) -> Result<LogFile> {
    let filter = settings.filter()?;
    let file = settings.file.as_ref().map(open).transpose()?;
    let log = LogFile { path: settings.file.clone().map(Arc::new), file: Arc::new(Mutex::new(file)) };
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
        let log = LogFile {
            path: Some(Arc::new(path.clone())),
            file: Arc::new(Mutex::new(Some(open(&path).unwrap()))),
        };
        (&log).write_all(b"one\n").unwrap();
        std::fs::rename(&path, folder.path().join("log.1")).unwrap();
        (&log).write_all(b"two\n").unwrap();
        assert!(log.reopen().unwrap());
        (&log).write_all(b"three\n").unwrap();
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!((read("log.1").as_str(), read("log").as_str()), ("one\ntwo\n", "three\n"));
    }
}
