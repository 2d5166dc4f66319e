//! The settings of a server that decide whether an acknowledged commit survives.

use annals::{Error, ErrorKind, Result};

use super::place::PostgresPlace;

/// Settings that every session has for itself: no time-outs of the server, because the log has its own deadline, and plans that use
/// indexes also while the server has no statistics. They come with the start of the session, because the first statement
/// could have a time-out already.
pub(super) const SESSION: &str = "-c statement_timeout=0 -c lock_timeout=0 -c idle_in_transaction_session_timeout=0 \
    -c default_transaction_isolation=read\\ committed -c search_path= -c enable_seqscan=off -c enable_bitmapscan=off \
    -c jit=off";

/// Its only row is for [`Settings`].
pub(super) const SETTINGS: &str = "
    select current_setting('server_version'), current_setting('server_version_num'), pg_is_in_recovery(),
        current_setting('transaction_read_only'), current_setting('fsync'), current_setting('full_page_writes'),
        current_setting('synchronous_commit'), current_setting('synchronous_standby_names'),
        (select count(*) from pg_catalog.pg_stat_replication
         where coalesce(state, 'streaming') = 'streaming' and coalesce(sync_state, 'async') = 'async')";

/// The oldest version that the log is for.
const VERSION_MIN: u64 = 120_000;

/// The settings of a server as a session finds them.
#[derive(Clone, Debug, Default)]
pub(super) struct Settings {
    version: String,
    version_number: u64,
    pub is_standby: bool,
    is_read_only: bool,
    fsync: String,
    full_page_writes: String,
    synchronous_commit: String,
    standby_names: String,
    /// Standbys that a commit does not wait for.
    async_standbys: u64,
}

impl Settings {
    /// Reads the row of [`SETTINGS`].
    pub fn read<'r>(value: impl Fn(usize) -> Option<&'r str>) -> Settings {
        let text = |at| value(at).unwrap_or_default().to_owned();
        Settings {
            version: text(0),
            version_number: text(1).parse().unwrap_or_default(),
            is_standby: text(2) == "t",
            is_read_only: text(3) == "on",
            fsync: text(4),
            full_page_writes: text(5),
            synchronous_commit: text(6),
            standby_names: text(7),
            async_standbys: text(8).parse().unwrap_or_default(),
        }
    }

    /// The settings by which an acknowledged commit may be lost. Shape: `setting=value: consequence`.
    fn dangers(&self) -> Vec<String> {
        let mut dangers = Vec::new();
        for (name, value) in [("fsync", &self.fsync), ("full_page_writes", &self.full_page_writes)] {
            if value != "on" {
                dangers.push(format!("{name}={value}: a crash of the machine may lose or damage the log"));
            }
        }
        let waits = matches!(self.synchronous_commit.as_str(), "on" | "remote_apply");
        match (self.synchronous_commit.as_str(), self.standby_names.is_empty()) {
            ("off", _) => {
                dangers.push("synchronous_commit=off: a crash loses the latest commits".to_owned());
            }
            (value, false) if !waits => {
                dangers.push(format!(
                    "synchronous_commit={value}: a failover loses commits that no standby has synced"
                ));
            }
            _ => {}
        }
        if self.standby_names.is_empty() && self.async_standbys > 0 {
            dangers.push(format!(
                "synchronous_standby_names is empty beside {} standbys: a failover loses the latest commits",
                self.async_standbys
            ));
        }
        dangers
    }

    /// Refuses a server that cannot keep the log, or that would lose acknowledged commits and is not accepted as such.
    ///
    /// Errors: `InvalidArgument`, `ReadOnly`.
    pub fn check(&self, place: &PostgresPlace, is_read_only: bool) -> Result<()> {
        let refused = |kind, text: String| Err(Error::new(kind, format!("{place}: {text}")));
        if self.version_number < VERSION_MIN {
            let text = format!("expected PostgreSQL 12 or later, found {}; upgrade it", self.version);
            return refused(ErrorKind::InvalidArgument, text);
        }
        if is_read_only {
            return Ok(());
        }
        if self.is_read_only {
            let text = "expected a server that writes, found transactions read-only; set default_transaction_read_only \
                        to off, or open it for reading";
            return refused(ErrorKind::ReadOnly, text.to_owned());
        }
        match self.dangers().as_slice() {
            dangers if dangers.is_empty() || place.is_unsafe => Ok(()),
            dangers => {
                let text = format!(
                    "expected settings that keep acknowledged commits, found {}; change them, or accept that with \
                     durability=unsafe",
                    dangers.join("; ")
                );
                refused(ErrorKind::InvalidArgument, text)
            }
        }
    }

    /// How durable the log is, for reports.
    pub fn durability(&self) -> String {
        let dangers = self.dangers();
        if !dangers.is_empty() {
            return format!("unsafe: {}", dangers.join("; "));
        }
        let standbys = match self.standby_names.as_str() {
            "" => "without standbys".to_owned(),
            names => format!("and by standbys ({names})"),
        };
        format!("each commit is synced by PostgreSQL {} {standbys}", self.version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server with these values instead of safe ones. Shape: `[(column, value)]`.
    fn server(changes: &[(usize, &str)]) -> Settings {
        let mut row = ["15.1", "150001", "f", "off", "on", "on", "on", "", "0"];
        changes.iter().for_each(|(at, value)| row[*at] = value);
        Settings::read(|at| row.get(at).copied())
    }

    #[test]
    fn settings_that_lose_commits_are_refused_unless_accepted() {
        let place = PostgresPlace::parse("postgres://u@localhost/d").unwrap();
        let accepting = PostgresPlace::parse("postgres://u@localhost/d?durability=unsafe").unwrap();
        let safe: [&[(usize, &str)]; 4] =
            [&[], &[(6, "local")], &[(7, "one"), (8, "3")], &[(6, "remote_apply"), (7, "one")]];
        for changes in safe {
            let server = server(changes);
            server.check(&place, false).unwrap();
            assert!(!server.durability().contains("unsafe"), "{}", server.durability());
        }
        let dangerous: [(&[(usize, &str)], &str); 6] = [
            (&[(4, "off")], "fsync=off"),
            (&[(5, "off")], "full_page_writes=off"),
            (&[(6, "off")], "synchronous_commit=off"),
            (&[(6, "local"), (7, "one")], "synchronous_commit=local"),
            (&[(6, "remote_write"), (7, "one")], "synchronous_commit=remote_write"),
            (&[(8, "1")], "synchronous_standby_names"),
        ];
        for (changes, name) in dangerous {
            let server = server(changes);
            let error = server.check(&place, false).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains("durability=unsafe"), "{error}");
            server.check(&accepting, false).unwrap();
            server.check(&place, true).unwrap();
            assert!(server.durability().starts_with("unsafe: "), "{}", server.durability());
        }
        assert!(server(&[(1, "110000"), (0, "11.0")]).check(&accepting, true).is_err());
        assert_eq!(server(&[(3, "on")]).check(&place, false).unwrap_err().kind(), ErrorKind::ReadOnly);
    }
}
