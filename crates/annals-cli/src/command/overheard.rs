//! Standard input of which the beginning is kept while its header is read, so that all of it can be sent to a server.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

/// The bytes that were read since the beginning; `None` before it and behind its end.
#[derive(Clone, Default)]
pub struct Overheard(Arc<Mutex<Option<Vec<u8>>>>);

impl Overheard {
    /// Standard input, of which the bytes read are kept from now on.
    pub fn begin(&self) -> impl Read + Send + use<> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Vec::new());
        Listening { input: io::stdin(), heard: self.clone() }
    }

    /// Keeps no more; returns what was read.
    pub fn end(&self) -> Vec<u8> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default()
    }
}

struct Listening {
    input: io::Stdin,
    heard: Overheard,
}

impl Read for Listening {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        if let Some(heard) = self.heard.0.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            heard.extend_from_slice(&buffer[..count]);
        }
        Ok(count)
    }
}
