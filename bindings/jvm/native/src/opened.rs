//! An open repository, with the HTTP door in process once somebody asks for it.

use std::borrow::Cow;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use annals::{Options, Repository, Result};
use annals_json::{Object, invalid};
use annals_logs::Place;
use annals_server::{Exchange, InProcess, Limits};
use http::{Request, Response};

use crate::argument::{flag, number, object, text};

/// An open repository.
pub struct Opened {
    /// `None` once it is closed.
    repository: Mutex<Option<Repository>>,
    door: Mutex<Option<Arc<InProcess>>>,
}

impl Opened {
    /// Opens a repository as JSON says: `{"folder": …, "readOnly": …}`; without a folder in memory. The folder may be the URL
    /// of a log in a store.
    ///
    /// Errors: as [`Place::open`]; `InvalidArgument` for an unknown setting.
    pub fn open(settings: &[u8]) -> Result<Opened> {
        let settings = object(settings, "settings")?;
        let known = ["folder", "readOnly", "checkpointLogBytes", "segmentBytes", "memoryBytesMax", "objects"];
        if let Some(name) = settings.keys().find(|name| !known.contains(&name.as_str())) {
            return Err(invalid(format!("settings: expected {}, found {name:?}", known.join(", "))));
        }
        let mut options = Options { is_read_only: flag(&settings, "readOnly")?, ..Options::default() };
        if let Some(bytes) = number(&settings, "checkpointLogBytes")? {
            options.checkpoint_log_bytes = bytes;
        }
        if let Some(bytes) = number(&settings, "segmentBytes")? {
            options.segment_bytes = bytes;
        }
        options.memory_bytes_max = number(&settings, "memoryBytesMax")?;
        let repository = match text(&settings, "folder")? {
            Some(folder) => {
                let place = Place::parse(Path::new(&*with_slashes(folder)))?;
                place.with_objects(text(&settings, "objects")?.map(str::to_owned))?.open(options)?
            }
            None => Repository::in_memory(),
        };
        Ok(Opened { repository: Mutex::new(Some(repository)), door: Mutex::default() })
    }

    /// The repository.
    ///
    /// Errors: `Closed`.
    pub fn repository(&self) -> Result<Repository> {
        let repository = self.repository.lock().unwrap_or_else(PoisonError::into_inner);
        repository.clone().ok_or_else(|| {
            annals::Error::new(annals::ErrorKind::Closed, "repository: it is closed; open it again")
        })
    }

    /// Sends a request to the door. Shape of `head`: `{"method": …, "target": …, "headers": {…}}`.
    ///
    /// Errors: `InvalidArgument` for a malformed head; `Closed`; those of starting the door.
    pub fn send(&self, head: &[u8], has_body: bool) -> Result<Exchange> {
        let head = object(head, "request")?;
        self.door()?.send(request(&head)?, has_body)
    }

    /// Sends a request with its whole body to the door, and reads the whole answer, of at most `bytes_max` bytes.
    ///
    /// Errors: as [`Opened::send`]; `TooLarge`.
    pub fn answer(&self, head: &[u8], body: Vec<u8>, bytes_max: usize) -> Result<(Response<()>, Vec<u8>)> {
        let head = object(head, "request")?;
        self.door()?.answer(request(&head)?, body, bytes_max)
    }

    fn door(&self) -> Result<Arc<InProcess>> {
        let mut door = self.door.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(door) = &*door {
            return Ok(Arc::clone(door));
        }
        let made = Arc::new(InProcess::new(self.repository()?, Limits::default())?);
        Ok(Arc::clone(door.insert(made)))
    }

    /// Ends the door, commits what was submitted, and closes the repository.
    ///
    /// Errors: as [`Repository::close`].
    pub fn close(&self) -> Result<()> {
        let door = self.door.lock().unwrap_or_else(PoisonError::into_inner).take();
        let repository = self.repository.lock().unwrap_or_else(PoisonError::into_inner).take();
        // A thread that works on a request holds the door, too.
        if let Some(door) = door {
            door.stop();
        }
        repository.map_or(Ok(()), Repository::close)
    }
}

/// A URL that was a `Path` of Java has lost one of its two slashes.
fn with_slashes(place: &str) -> Cow<'_, str> {
    match place.split_once(":/") {
        Some((scheme @ ("postgres" | "postgresql" | "s3"), rest)) if !rest.starts_with('/') => {
            format!("{scheme}://{rest}").into()
        }
        _ => place.into(),
    }
}

fn request(head: &Object) -> Result<Request<()>> {
    let method = text(head, "method")?.unwrap_or("GET");
    let target = text(head, "target")?.ok_or_else(|| invalid("request: expected a target, found none"))?;
    let mut request = Request::builder().method(method).uri(target);
    if let Some(headers) = head.get("headers").and_then(|headers| headers.as_object()) {
        for (name, value) in headers {
            let value = value.as_str().ok_or_else(|| invalid(format!("header {name}: expected a text")))?;
            request = request.header(name, value);
        }
    }
    request.body(()).map_err(|error| invalid(format!("request {method} {target}: {error}")))
}
