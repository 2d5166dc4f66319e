//! Why memory stays on the pages that it is on.

pub(crate) fn unsupported(why: &str) -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::Unsupported, format!("{why}; memory stays on pages as they are"))
}
