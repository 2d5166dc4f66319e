//! The resources that a client may read, as reads ask for it: the statements about any other resource are left out.

use std::fmt;
use std::sync::Arc;

use super::path::Path;

/// Answers whether the client of a request may read the resource at a path.
type Ask = dyn Fn(&Path) -> annals::Result<bool> + Send + Sync;

/// The resources that the client of a request may read.
#[derive(Clone)]
pub struct Readable(Arc<Ask>);

impl Readable {
    /// Those for which `ask` answers true.
    pub fn by(ask: impl Fn(&Path) -> annals::Result<bool> + Send + Sync + 'static) -> Readable {
        Readable(Arc::new(ask))
    }

    /// True if the client may read the resource at a path.
    ///
    /// Errors: those of reading its ACL.
    pub fn has(&self, path: &Path) -> annals::Result<bool> {
        (self.0)(path)
    }
}

impl fmt::Debug for Readable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Readable")
    }
}
