//! Openings that are refused, each with one sentence, and the rights that writers and followers need.

use std::fs;
use std::time::Duration;

use annals::{ErrorKind, Position};
use annals_logs::Options;
use annals_logs::postgres::PostgresLog;

use crate::server::{Server, give, shared};
use crate::support::{new_schema, open, place_at, refusal};

fn reading() -> Options {
    Options { is_read_only: true, ..Options::default() }
}

#[test]
fn what_is_no_place_of_a_log_is_refused() {
    let port = shared().port;
    let cases: [(&str, &str); 8] = [
        ("mysql://u@h/d", "found mysql://"),
        ("/var/lib/annals", "begins with postgres://"),
        ("postgres://annals:hunter2@127.0.0.1/library", "expected no password"),
        ("postgres://127.0.0.1/library", "expected a user"),
        ("postgres://annals@127.0.0.1", "expected a database"),
        ("postgres://annals@127.0.0.1/library?pasword=hunter2", "found 'pasword'"),
        ("postgres://annals@127.0.0.1/library?sslmode=prefer", "expected disable, require or verify-full"),
        ("postgres://annals@127.0.0.1/library?schema=A%22;drop", "lower-case letters"),
    ];
    for (place, expected) in cases {
        let (kind, text) = refusal(place, &Options::default());
        assert!(kind == ErrorKind::InvalidArgument && text.contains(expected), "{place}: {text}");
    }
    let (kind, text) = refusal(&place_at(port, "pg_own"), &Options::default());
    assert_eq!(kind, ErrorKind::InvalidArgument, "{text}");
}

#[test]
fn a_wrong_user_password_or_database_is_refused() {
    let port = shared().port;
    let folder = tempfile::tempdir().unwrap();
    let (wrong, right) = (folder.path().join("wrong"), folder.path().join("right"));
    fs::write(&wrong, "hunter3").unwrap();
    fs::write(&right, "hunter2\n").unwrap();
    let locked = |file: &std::path::Path| {
        let (schema, file) = (new_schema(), file.display());
        format!("postgres://locked@127.0.0.1:{port}/library?schema={schema}&password-file={file}")
    };
    let start = std::time::Instant::now();
    let error = annals_logs::open(&locked(&wrong), &Options::default()).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
    assert!(error.to_string().contains("correct the user, or the password"), "{error}");
    assert!(start.elapsed() < Duration::from_secs(3), "it is not tried again");
    annals_logs::open(&locked(&right), &Options::default()).unwrap();
    let missing =
        annals_logs::open(&locked(&folder.path().join("missing")), &Options::default()).err().unwrap();
    assert!(missing.to_string().contains("password-file: expected a readable file"), "{missing}");
    let none = annals_logs::open(&format!("postgres://locked@127.0.0.1:{port}/library"), &Options::default());
    assert!(none.err().unwrap().to_string().contains("password"), "without a password");
    let (kind, text) = refusal(&format!("postgres://annals@127.0.0.1:{port}/libary"), &Options::default());
    assert_eq!(kind, ErrorKind::NotFound, "{text}");
    let (kind, text) = refusal(&format!("postgres://anna@127.0.0.1:{port}/library"), &Options::default());
    assert_eq!(kind, ErrorKind::InvalidArgument, "{text}");
}

#[test]
fn a_server_that_is_not_there_or_does_not_answer_is_unavailable_within_seconds() {
    let (kind, text) = refusal(&place_at(1, "x"), &Options::default());
    assert_eq!(kind, ErrorKind::Unavailable, "{text}");
    assert!(text.contains("could not connect") && text.contains("start the server"), "{text}");
    // It takes connections, and says nothing.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let (kind, text) = refusal(&place_at(silent.local_addr().unwrap().port(), "x"), &Options::default());
    assert_eq!(kind, ErrorKind::Unavailable, "{text}");
    assert!(text.contains("did not answer in time"), "{text}");
    let (kind, text) =
        refusal("postgres://annals@no.such.host.invalid/library?sslmode=disable", &Options::default());
    assert_eq!(kind, ErrorKind::Unavailable, "{text}");
}

#[test]
fn of_several_hosts_the_primary_is_found() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = silent.local_addr().unwrap().port();
    let (port, schema) = (shared().port, new_schema());
    let hosts = format!("127.0.0.1:1,127.0.0.1:{silent},127.0.0.1:{port}");
    let log =
        open(&format!("postgres://annals@{hosts}/library?schema={schema}&target_session_attrs=read-write"));
    log.append(Position(1), &[b"a"]).unwrap();
}

#[test]
fn a_reader_writes_nothing_and_needs_only_to_select() {
    let (port, schema) = (shared().port, new_schema());
    let (kind, text) = refusal(&place_at(port, &schema), &reading());
    assert_eq!(kind, ErrorKind::NotFound, "{text}");
    let exists = format!("select count(*) from pg_namespace where nspname = '{schema}'");
    assert_eq!(shared().sql(&exists), "0");
    open(&place_at(port, &schema)).append(Position(1), &[b"a", b"b"]).unwrap();
    let reader = format!("postgres://reader@127.0.0.1:{port}/library?schema={schema}");
    let (kind, text) = refusal(&reader, &reading());
    assert_eq!(kind, ErrorKind::Io, "{text}");
    assert!(text.contains("permission denied") && text.contains("grant the right"), "{text}");
    shared().sql(&format!(
        "grant usage on schema {schema} to reader; grant select on all tables in schema {schema} to reader"
    ));
    let writes = format!(
        "select sum(n_tup_ins + n_tup_upd + n_tup_del) from pg_stat_user_tables where schemaname = '{schema}'"
    );
    let before = shared().sql(&writes);
    let log = annals_logs::open(&reader, &reading()).unwrap();
    assert_eq!(log.read(Position(1), annals::log::ReadLimit::default()).unwrap(), [b"a", b"b"]);
    assert_eq!(log.verify().unwrap().records_count, 2);
    assert_eq!(log.register().unwrap().get(annals::log::Slot::Lease).unwrap(), None);
    assert_eq!(shared().sql(&writes), before);
    // For writing it lacks rights.
    let (kind, text) = refusal(&reader, &Options::default());
    assert_eq!(kind, ErrorKind::Io, "{text}");
    let new = format!("postgres://reader@127.0.0.1:{port}/library?schema={}", new_schema());
    assert_eq!(refusal(&new, &Options::default()).0, ErrorKind::Io);
}

#[test]
fn a_schema_that_was_made_for_the_writer_is_enough() {
    let (port, schema) = (shared().port, new_schema());
    shared().sql(&format!("create schema {schema} authorization reader"));
    let log = open(&format!("postgres://reader@127.0.0.1:{port}/library?schema={schema}"));
    log.append(Position(1), &[b"a"]).unwrap();
}

#[test]
fn many_first_openings_at_once_make_one_log() {
    let place = place_at(shared().port, &new_schema());
    let ids: Vec<_> = std::thread::scope(|scope| {
        let opening: Vec<_> = (0..8).map(|_| scope.spawn(|| open(&place).id())).collect();
        opening.into_iter().map(|opened| opened.join().unwrap()).collect()
    });
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
}

#[test]
fn another_format_is_refused() {
    let (port, schema) = (shared().port, new_schema());
    drop(open(&place_at(port, &schema)));
    shared().sql(&format!("update {schema}.log set format = 2"));
    let (kind, text) = refusal(&place_at(port, &schema), &reading());
    assert_eq!(kind, ErrorKind::NewerFormat, "{text}");
}

/// A trigger that lets the second row in takes the part of a server that ignores conditions.
#[test]
fn a_server_that_ignores_conditions_is_refused() {
    let (port, schema) = (shared().port, new_schema());
    drop(open(&place_at(port, &schema)));
    shared().sql(&format!(
        "alter table {schema}.call drop constraint call_pkey; create unique index on {schema}.call (first, token)"
    ));
    let error =
        annals_logs::open(&place_at(port, &schema), &Options::default()).err().expect("it is refused");
    assert!(matches!(error.kind(), ErrorKind::InvalidArgument | ErrorKind::Unavailable), "{error}");
    shared().sql(&format!(
        "create function {schema}.doubled() returns trigger language plpgsql as $$ begin \
         new.first = -(random() * 1000000)::int8; return new; end $$; \
         alter table {schema}.call add primary key (first); \
         create trigger doubled before insert on {schema}.call for each row execute function {schema}.doubled()"
    ));
    let (kind, text) = refusal(&place_at(port, &schema), &Options::default());
    assert_eq!(kind, ErrorKind::InvalidArgument);
    assert!(text.contains("ignores the condition"), "{text}");
}

#[test]
fn settings_that_lose_commits_are_refused_unless_they_are_accepted() {
    let server = Server::start(&["fsync=off"]);
    let place = place_at(server.port, "one");
    let (kind, text) = refusal(&place, &Options::default());
    assert_eq!(kind, ErrorKind::InvalidArgument);
    assert!(text.contains("fsync=off") && text.contains("durability=unsafe"), "{text}");
    let accepted = PostgresLog::open(&format!("{place}&durability=unsafe"), &Options::default()).unwrap();
    assert!(accepted.durability().starts_with("unsafe: fsync=off"), "{}", accepted.durability());
    // Each connection looks again, so that a server with other settings does not slip in by a failover.
    annals_logs::open(&place, &reading()).unwrap();
    server.sql(
        "alter database library set synchronous_commit = off; alter role annals set statement_timeout = 1",
    );
    let (_, text) = refusal(&place, &Options::default());
    assert!(text.contains("fsync=off") && text.contains("synchronous_commit=off"), "{text}");
    // The time-out of the role does not end the calls of the log.
    open(&format!("{place}&durability=unsafe")).append(Position(1), &[&vec![1; 30_000_000]]).unwrap();
    let safe = PostgresLog::open(&place_at(shared().port, &new_schema()), &Options::default()).unwrap();
    assert!(safe.durability().contains("synced by PostgreSQL"), "{}", safe.durability());
    server.sql("alter database library set default_transaction_read_only = on");
    let (kind, text) = refusal(&format!("{place}&durability=unsafe"), &Options::default());
    assert_eq!(kind, ErrorKind::ReadOnly, "{text}");
}

#[test]
fn tls_needs_a_trusted_certificate_with_the_name_of_the_host() {
    let folder = tempfile::tempdir().unwrap();
    let authority = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let server = Server::start(&[]);
    let (certificate, key) = (server.data().join("server.crt"), server.data().join("server.key"));
    fs::write(&certificate, authority.cert.pem()).unwrap();
    fs::write(&key, authority.signing_key.serialize_pem()).unwrap();
    private(&key);
    give(&server.data());
    server.sql("alter system set ssl = on");
    server.sql("select pg_reload_conf()");
    let own = folder.path().join("own.pem");
    fs::write(&own, authority.cert.pem()).unwrap();
    let place = |host: &str, options: &str| {
        format!("postgres://annals@{host}:{}/library?schema=one&{options}", server.port)
    };
    let trusting = format!("sslmode=verify-full&sslrootcert={}", own.display());
    crate::support::wait_until(|| {
        annals_logs::open(&place("localhost", &trusting), &Options::default()).is_ok()
    });
    let log = open(&place("localhost", &trusting));
    log.append(Position(1), &[&vec![7; 3_000_000]]).unwrap();
    assert_eq!(log.read(Position(1), annals::log::ReadLimit::ONE).unwrap(), [vec![7; 3_000_000]]);
    assert_eq!(server.sql("select count(*) > 0 from pg_stat_ssl where ssl"), "t");
    let other = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    fs::write(folder.path().join("other.pem"), other.cert.pem()).unwrap();
    let distrusting = format!("sslmode=require&sslrootcert={}", folder.path().join("other.pem").display());
    for place in [place("localhost", &distrusting), place("127.0.0.1", &trusting)] {
        let (kind, text) = refusal(&place, &Options::default());
        assert!(kind == ErrorKind::InvalidArgument && text.contains("certificate"), "{place}: {text}");
    }
    let (_, text) =
        refusal(&place("localhost", "sslmode=require&sslrootcert=/none.pem"), &Options::default());
    assert!(text.contains("expected certificates in PEM"), "{text}");
    // A server without TLS.
    let plain = format!(
        "postgres://annals@localhost:{}/library?sslmode=require&sslrootcert={}",
        shared().port,
        own.display()
    );
    let (kind, text) = refusal(&plain, &Options::default());
    assert_eq!(kind, ErrorKind::InvalidArgument, "{text}");
}

fn private(path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

#[test]
fn an_adopted_log_has_another_id_and_old_handles_refuse_it() {
    let place = crate::support::new_place();
    let old = open(&place);
    let record: &[u8] = b"record";
    old.append(Position(1), &[record]).unwrap();
    let before = annals_logs::status(&place, &reading()).unwrap();
    assert_eq!((before.id, before.tail, before.generation), (old.id(), Position(1), 0));
    assert!(before.durability.starts_with("each commit is synced"), "{}", before.durability);
    let id = annals_logs::adopt(&place, None, &Options::default()).unwrap();
    assert_ne!(id, before.id);
    assert!(old.append(Position(2), &[record]).is_err());
    assert!(old.read(Position(1), annals::log::ReadLimit::ONE).is_err());
    let after = annals_logs::status(&place, &reading()).unwrap();
    assert_eq!((after.id, after.tail), (id, Position(1)));
    let new = open(&place);
    new.append(Position(2), &[record]).unwrap();
}

#[test]
fn a_log_with_a_living_writer_is_not_adopted() {
    let place = crate::support::new_place();
    let writer = annals::Repository::with_log(open(&place), annals::Options::default()).unwrap();
    let error = annals_logs::adopt(&place, None, &Options::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Locked, "{error}");
    writer.transact(|t| t.create_entity(annals::NewEntity::new("t"))).unwrap();
    writer.close().unwrap();
    annals_logs::adopt(&place, None, &Options::default()).unwrap();
}
