//! The unit of systemd that starts the server, as a text: its lines, with drop-ins.

use std::path::{Path, PathBuf};
use std::time::Duration;

/// The folders of units, and the name of ours. Changes of an administrator are in the first one.
const FOLDERS: [&str; 3] = ["/etc/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"];
const NAME: &str = "annals.service";

/// A unit with its drop-ins.
#[derive(Debug)]
pub struct UnitFile {
    /// Its file.
    pub path: PathBuf,
    /// Shape: `[(key, value)]`, in the order of the files.
    lines: Vec<(String, String)>,
}

impl UnitFile {
    /// The unit of the package, or of the administrator, if there is one.
    pub fn find() -> Option<PathBuf> {
        FOLDERS.iter().map(|folder| Path::new(folder).join(NAME)).find(|path| path.is_file())
    }

    /// Reads a unit, and the drop-ins beside it and of the administrator.
    ///
    /// Errors: why it cannot be read.
    pub fn read(path: &Path) -> Result<UnitFile, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut lines = lines(&text);
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let beside = path.parent().unwrap_or(Path::new(".")).join(format!("{name}.d"));
        let of_system = Path::new(FOLDERS[0]).join(format!("{name}.d"));
        let is_of_system = FOLDERS.iter().any(|folder| path.starts_with(folder)) && of_system != beside;
        for folder in [Some(beside), is_of_system.then_some(of_system)].into_iter().flatten() {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
            files.sort();
            for file in files.iter().filter(|file| file.extension().is_some_and(|end| end == "conf")) {
                lines.extend(self::lines(&std::fs::read_to_string(file).unwrap_or_default()));
            }
        }
        Ok(UnitFile { path: path.to_owned(), lines })
    }

    /// The value of a key that counts.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.lines.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// The words of a key that may occur several times. An empty value removes those before it.
    pub fn words(&self, key: &str) -> Vec<&str> {
        let mut words = Vec::new();
        for (_, value) in self.lines.iter().filter(|(name, _)| name == key) {
            if value.is_empty() {
                words.clear();
            }
            words.extend(value.split_whitespace());
        }
        words
    }

    /// A size, such as the memory that the server may use. Units: bytes; `None` without a bound.
    pub fn size(&self, key: &str) -> Option<u64> {
        size(self.value(key)?)
    }

    /// The user of the server as a number, if the system knows it.
    pub fn account(&self) -> Option<u32> {
        let name = self.value("User").unwrap_or("root");
        if let Ok(number) = name.parse() {
            return Some(number);
        }
        let users = std::fs::read_to_string("/etc/passwd").ok()?;
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        line.split(':').nth(2)?.parse().ok()
    }
}

/// The lines of a unit that set something. Shape: `[(key, value)]`.
fn lines(text: &str) -> Vec<(String, String)> {
    let is_said = |line: &&str| !line.starts_with(['#', ';', '[']);
    let pairs = text.lines().map(str::trim).filter(is_said).filter_map(|line| line.split_once('='));
    pairs.map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned())).collect()
}

/// A size as systemd has it. Units: bytes; `None` for infinity, for a share of the memory, and for other text.
fn size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(['K', 'M', 'G', 'T', 'B']);
    let power = match text[digits.len()..].chars().next() {
        None | Some('B') => 0,
        Some('K') => 10,
        Some('M') => 20,
        Some('G') => 30,
        Some(_) => 40,
    };
    digits.trim().parse::<u64>().ok()?.checked_mul(1 << power)
}

/// A time as systemd has it; `None` for infinity and other text.
pub fn time(text: &str) -> Option<Duration> {
    let mut whole = Duration::ZERO;
    for word in text.split_whitespace() {
        let digits = word.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
        let number: u64 = digits.parse().ok()?;
        let millis = match &word[digits.len()..] {
            "ms" => 1,
            "" | "s" | "sec" => 1_000,
            "m" | "min" => 60_000,
            "h" | "hr" => 3_600_000,
            _ => return None,
        };
        whole += Duration::from_millis(number.checked_mul(millis)?);
    }
    Some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drop_in_changes_the_unit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.service");
        std::fs::write(&path, "[Service]\n# User=x\nUser=annals\nReadWritePaths=/a\nMemoryMax=6G\n").unwrap();
        std::fs::create_dir(folder.path().join("a.service.d")).unwrap();
        std::fs::write(
            folder.path().join("a.service.d/x.conf"),
            "[Service]\nMemoryMax=infinity\nReadWritePaths=\nReadWritePaths=/b /c\n",
        )
        .unwrap();
        let unit = UnitFile::read(&path).unwrap();
        assert_eq!((unit.value("User"), unit.size("MemoryMax")), (Some("annals"), None));
        assert_eq!(unit.words("ReadWritePaths"), ["/b", "/c"]);
    }

    #[test]
    fn sizes_and_times_are_those_of_systemd() {
        assert_eq!(
            ["6G", "512M", "7", "infinity", "50%"].map(size),
            [Some(6 << 30), Some(512 << 20), Some(7), None, None]
        );
        let seconds = ["1min", "90", "1min 30s", "500ms", "infinity"]
            .map(|text| time(text).map(|time| time.as_millis()));
        assert_eq!(seconds, [Some(60_000), Some(90_000), Some(90_000), Some(500), None]);
    }
}
