//! The reason why memory cannot be moved.

pub(crate) fn unsupported(why: &str) -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::Unsupported, format!("{why}; memory stays on pages as they are"))
}
