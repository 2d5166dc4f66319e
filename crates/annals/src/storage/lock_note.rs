//! The note in a lock file about its holder: the process and its command, for the message that another one gets.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::disk::Access;
use super::private_files;

/// Longest note. Units: characters.
const NOTE_LENGTH_MAX: usize = 120;
/// So much of the file is read. Units: bytes.
const NOTE_BYTES_MAX: u64 = 512;

/// Writes the note of this process. A disk that has no room leaves the file without one.
pub(super) fn write(file: &File) {
    let note = format!("process {}, {}\n", std::process::id(), command(std::env::args()));
    let _ = file.set_len(0).and_then(|()| file.write_all_at(note.as_bytes(), 0));
}

/// Removes the note when the lock is released.
pub(super) fn clear(file: &File) {
    let _ = file.set_len(0);
}

/// The note in the lock file at `path`. The file is only a hint, so it may hold anything.
pub(super) fn read(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    let file = private_files::open(path, Access::Read).ok()?;
    file.take(NOTE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().next()?;
    let note: String = line.chars().filter(|one| !one.is_control()).take(NOTE_LENGTH_MAX).collect();
    Some(note).filter(|note| note.starts_with("process "))
}

/// The name of the program, and its arguments; without those of a virtual machine, which are long and may hold secrets.
fn command(words: impl Iterator<Item = String>) -> String {
    let mut words = words;
    let program = words.next().unwrap_or_default();
    let name = Path::new(&program).file_name().map_or(program.clone(), |name| name.to_string_lossy().into());
    let is_machine = name.starts_with("java");
    let shown: Vec<String> = std::iter::once(name).chain(words.filter(|_| !is_machine)).collect();
    let line: String = shown.join(" ").chars().map(|one| if one.is_control() { ' ' } else { one }).collect();
    match line.char_indices().nth(NOTE_LENGTH_MAX - 30) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::command;

    #[test]
    fn a_command_is_named_without_its_folder_and_cut_short() {
        let named = |words: &[&str]| command(words.iter().map(|word| (*word).to_owned()));
        assert_eq!(named(&["/usr/bin/annals", "serve", "-r", "a\nb"]), "annals serve -r a b");
        assert_eq!(named(&["/jdk/bin/java", "-Dpassword=x", "Main"]), "java");
        assert_eq!(named(&["x", &"long ".repeat(99)]).chars().count(), 91);
        assert_eq!(named(&[]), "");
    }
}
