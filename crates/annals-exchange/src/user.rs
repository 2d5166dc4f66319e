//! The user who runs this process: the author of what a command writes.

/// The name of the user: `$USER`, or the name of this process's user id; empty if neither is known.
pub fn user_name() -> String {
    let given = std::env::var("USER").ok().filter(|name| !name.trim().is_empty());
    given.or_else(account_name).unwrap_or_default()
}

#[cfg(unix)]
fn account_name() -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    // /proc/self belongs to the user of this process; a system call for the user id takes unsafe code.
    let user_id = std::fs::metadata("/proc/self").ok()?.uid().to_string();
    let accounts = std::fs::read_to_string("/etc/passwd").ok()?;
    accounts.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == user_id).then(|| name.to_owned())
    })
}

#[cfg(not(unix))]
fn account_name() -> Option<String> {
    None
}
