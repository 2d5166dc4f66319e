//! Reads a release of Debian once before anything is written: what it names, whether it is whole, and its checksum.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::{self, BufRead, Read};
use std::path::Path;
use std::sync::atomic::Ordering;

use annals::{Error, ErrorKind, Id, Result};
use annals_exchange::import::{Checked, Refused, Source};
use annals_exchange::{Outcome, Progress, Stop};

use crate::packages::{Package, PackageReader, compare_versions};

/// The version that counts of each package, and the line it stands on.
pub type Names = HashMap<Box<str>, (Box<str>, u64)>;

/// The contents of a release, by one reading of the whole file.
pub struct Survey {
    /// Its packages.
    pub names: Names,
    /// Tells it from other contents.
    pub content: Content,
    /// Stanzas refused.
    pub refused_count: u64,
    /// The first of them, no more than were asked for.
    pub refused: Vec<Refused>,
    /// For packages with several stanzas: which version is kept, and which is left out.
    pub remarks: Vec<String>,
}

/// Tells the unpacked text of a release from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content {
    /// CRC-32 of the bytes.
    pub crc32: u32,
    /// How many bytes.
    pub bytes: u64,
}

impl Survey {
    /// Reads the file; keeps at most `refused_max` refusals.
    ///
    /// Errors: `InvalidArgument` for standard input; a file without any package; those of reading.
    pub fn read(path: &Path, refused_max: u64, progress: &dyn Progress) -> Outcome<Survey> {
        if path.as_os_str() == "-" {
            let text = "expected a file that can be read several times, found standard input; save it first";
            return Err(Error::new(ErrorKind::InvalidArgument, text).into());
        }
        let mut survey = Survey {
            names: Names::new(),
            content: Content { crc32: 0, bytes: 0 },
            refused_count: 0,
            refused: Vec::new(),
            remarks: Vec::new(),
        };
        let content = each_stanza(
            path,
            |bytes, total| progress.set(bytes, total),
            |stanza| {
                match stanza {
                    Ok(package) => survey.take(package),
                    Err(refused) => {
                        survey.refused_count += 1;
                        if survey.refused_count <= refused_max {
                            survey.refused.push(refused);
                        }
                    }
                }
                Ok(())
            },
        );
        survey.content = content?;
        if survey.names.is_empty() {
            let mut text = format!("{}: expected packages, found none; nothing was written", path.display());
            if let Some(first) = survey.refused.first() {
                text += &format!("; {} stanzas refused, the first in {first}", survey.refused_count);
            }
            return Err(Stop::Refused(Error::new(ErrorKind::InvalidArgument, text)));
        }
        Ok(survey)
    }

    fn take(&mut self, package: Package) {
        let version = (package.version.as_str().into(), package.line);
        match self.names.entry(package.name.as_str().into()) {
            Entry::Vacant(place) => drop(place.insert(version)),
            Entry::Occupied(mut known) => {
                let (held, _) = known.get();
                let is_later = compare_versions(&package.version, held).is_gt();
                let (kept, left) =
                    if is_later { (&*package.version, &**held) } else { (&**held, &*package.version) };
                self.remarks.push(format!("{}: keeping version {kept}, skipping {left}", package.name));
                if is_later {
                    known.insert(version);
                }
            }
        }
    }
}

/// Reads the whole file once. A last stanza without an empty line behind it may be cut, so it is refused.
pub fn each_stanza(
    path: &Path,
    mut tell: impl FnMut(u64, Option<u64>),
    mut work: impl FnMut(Checked<Package>) -> Outcome,
) -> Outcome<Content> {
    let source = Source::open(path)?;
    let (bytes_read, bytes_total) = (source.bytes_read(), source.bytes_total());
    let in_file = |error: Error| error.with("file", path.display().to_string());
    let mut packages = PackageReader::new(Summed { input: source, sum: flate2::Crc::new(), bytes: 0 });
    while let Some(package) = packages.next() {
        let package: Checked<Package> = package.map_err(in_file)?;
        let is_cut = packages.is_cut();
        work(package.and_then(|package| {
            if is_cut {
                return Err(cut(package.line));
            }
            // Refused as a whole, so that no other stanza leans on what this one would have brought.
            check_ids(&package).map_err(|error| Refused::new(package.line, error.to_string()))?;
            Ok(package)
        }))?;
        tell(bytes_read.load(Ordering::Relaxed), bytes_total);
    }
    let summed = packages.into_input();
    Ok(Content { crc32: summed.sum.sum(), bytes: summed.bytes })
}

/// Checks that every entity a package brings can have its id.
///
/// Errors: `InvalidArgument` for a name that is too long or has control characters.
fn check_ids(package: &Package) -> Result<()> {
    let check = |prefix: &str, name: &str| Id::new(&format!("{prefix}:{name}")).map(drop);
    check("package", &package.name)?;
    check("source", &package.source.name)?;
    package.section.iter().try_for_each(|section| check("section", section))?;
    for maintainer in &package.maintainers {
        check("maintainer", maintainer.email.as_ref().unwrap_or(&maintainer.name))?;
    }
    package.tags.iter().try_for_each(|tag| check("tag", &format!("{}::{}", tag.facet, tag.tag)))?;
    // `package:` is as long as `virtual:`, so it does not matter which of the two the others become.
    package.relations.iter().try_for_each(|relation| check("virtual", &relation.to.name))?;
    package.provides.iter().try_for_each(|provided| check("virtual", &provided.name))
}

fn cut(line: u64) -> Refused {
    Refused::new(
        line,
        "expected an empty line behind the last stanza, found the end of the file: it may be cut; if it is whole, \
         add an empty line",
    )
}

/// Sums up what is read through it.
struct Summed<R> {
    input: R,
    sum: flate2::Crc,
    bytes: u64,
}

impl<R: BufRead> Read for Summed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.input.read(buffer)?;
        self.sum.update(&buffer[..bytes]);
        self.bytes += bytes as u64;
        Ok(bytes)
    }
}

impl<R: BufRead> BufRead for Summed<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.input.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        // The buffer is filled already, so this reads nothing and cannot fail.
        if let Ok(buffer) = self.input.fill_buf() {
            self.sum.update(&buffer[..bytes.min(buffer.len())]);
        }
        self.bytes += bytes as u64;
        self.input.consume(bytes);
    }
}
