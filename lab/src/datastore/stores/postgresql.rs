//! PostgreSQL: a schema for each store, with a table for each list and a row for each entry. A call is one statement, which
//! is one transaction; reading everything is a transaction of three.

use std::hint::black_box;
use std::time::Duration;

use postgres::fallible_iterator::FallibleIterator;
use postgres::{Client, Config, IsolationLevel, NoTls, Statement};

use super::tree::{Tree, name};
use crate::datastore::content::{Content, Entry, List, OrderedEntry};
use crate::datastore::subscribers::{Event, Feed, Position};
use crate::datastore::target::Store;
use crate::harness::TargetRecord;
use crate::outcome::Outcome;

/// Longest time to connect.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(5);

/// The tables of a store, in the schema `STORE`. `place` is the order that users gave.
const TABLES: &str = r#"
drop schema if exists STORE cascade;
create schema STORE;
create table STORE.cont (is_there boolean primary key default true check (is_there));
create table STORE.lst (k1 bigint, k2 text, l text, primary key (k1, k2));
create table STORE.usr_lst (k bigint primary key, place bigint not null unique, l text);
"#;

/// The changes for subscribers: those of a statement have one position, in the order of commits, because there is one
/// writer.
const CHANGES: &str = "
drop table if exists changes cascade;
drop sequence if exists positions;
create table changes (position bigint, store text, what text, k1 bigint, k2 text, l text);
create index on changes (position);
create sequence positions;
create or replace function keep_changes() returns trigger language plpgsql as $$
declare
    here bigint := nextval('positions');
begin
    insert into changes select here, tg_table_schema, tg_op, k1, k2, l from touched;
    if found then perform pg_notify('changes', here::text); end if;
    return null;
end $$;
";

/// An event with its own form of `referencing`.
const TRIGGERS: [(&str, &str); 3] = [("insert", "new"), ("update", "new"), ("delete", "old")];

/// A connection, with the statements of both stores.
pub struct Postgresql {
    client: Client,
    port: u16,
    prepared: Vec<Prepared>,
}

/// The statements of a store. They are prepared again when its tables are.
struct Prepared {
    leaf: Statement,
    container: Statement,
    lst: Statement,
    usr_lst: Statement,
    set: Statement,
    set_ordered: Statement,
    create_leaf: Statement,
    remove_leaf: Statement,
    remove_lst: Statement,
    remove_usr_lst: Statement,
    remove_container: Statement,
}

impl Postgresql {
    /// Connects.
    pub fn connect(port: u16) -> Outcome<Postgresql> {
        Ok(Postgresql { client: client(port)?, port, prepared: Vec::new() })
    }

    fn setting(&mut self, name: &str) -> Outcome<String> {
        Ok(self.client.query_one("select current_setting($1)", &[&name])?.get(0))
    }
}

fn client(port: u16) -> Outcome<Client> {
    let mut config = Config::new();
    config.host("127.0.0.1").port(port).user("lab").dbname("postgres").connect_timeout(CONNECT_TIME_MAX);
    Ok(config.connect(NoTls)?)
}

impl Prepared {
    fn of(client: &mut Client, store: Store) -> Outcome<Prepared> {
        let mut prepare = |text: &str| client.prepare(&text.replace("STORE", name(store)));
        // With this, setting an entry also creates the container.
        let with = "with made as (insert into STORE.cont default values on conflict do nothing)";
        Ok(Prepared {
            leaf: prepare("select l from STORE.lst where k1 = $1 and k2 = $2")?,
            container: prepare("select from STORE.cont")?,
            lst: prepare("select k1, k2, l from STORE.lst order by k1, k2")?,
            usr_lst: prepare("select k, l from STORE.usr_lst order by place")?,
            set: prepare(&format!(
                "{with} insert into STORE.lst as found (k1, k2, l) \
                 select * from unnest($1::bigint[], $2::text[], $3::text[]) \
                 on conflict (k1, k2) do update set l = excluded.l where found.l is distinct from excluded.l"
            ))?,
            set_ordered: prepare(&format!(
                "{with} insert into STORE.usr_lst as found (k, place, l) \
                 select k, (select coalesce(max(place), 0) from STORE.usr_lst) + place, l \
                 from unnest($1::bigint[], $2::text[]) with ordinality as given (k, l, place) \
                 on conflict (k) do update set l = excluded.l where found.l is distinct from excluded.l"
            ))?,
            create_leaf: prepare(&format!(
                "{with} insert into STORE.lst as found (k1, k2, l) values ($1, $2, $3) \
                 on conflict (k1, k2) do update set l = excluded.l where found.l is null"
            ))?,
            remove_leaf: prepare(
                "update STORE.lst set l = null where k1 = $1 and k2 = $2 and l is not null",
            )?,
            remove_lst: prepare("delete from STORE.lst")?,
            remove_usr_lst: prepare("delete from STORE.usr_lst")?,
            remove_container: prepare(
                "with lst as (delete from STORE.lst), usr_lst as (delete from STORE.usr_lst) \
                 delete from STORE.cont",
            )?,
        })
    }
}

impl Tree for Postgresql {
    fn record(&mut self) -> Outcome<TargetRecord> {
        let mut settings = Vec::new();
        for setting in ["fsync", "synchronous_commit", "lc_collate"] {
            settings.push((setting.to_owned(), self.setting(setting)?));
        }
        let is_synced = settings[..2].iter().all(|(_, value)| value == "on");
        Ok(TargetRecord {
            version: self.setting("server_version")?,
            durability: if is_synced { "synced" } else { "unsynced" }.into(),
            settings,
            ..TargetRecord::default()
        })
    }

    fn begin(&mut self) -> Outcome<()> {
        self.client.batch_execute(CHANGES)?;
        self.prepared.clear();
        for store in [Store::Running, Store::Operational] {
            self.client.batch_execute(&TABLES.replace("STORE", name(store)))?;
            self.prepared.push(Prepared::of(&mut self.client, store)?);
        }
        Ok(())
    }

    fn leaf(&mut self, number: u32) -> Outcome<Option<String>> {
        let Entry { k1, k2, .. } = Entry::new(number);
        let found = self.client.query_opt(&self.prepared[0].leaf, &[&i64::from(k1), &k2])?;
        Ok(found.and_then(|row| row.get(0)))
    }

    fn all(&mut self, store: Store) -> Outcome<Option<Content>> {
        let prepared = &self.prepared[store as usize];
        let read = self.client.build_transaction().read_only(true);
        let mut read = read.isolation_level(IsolationLevel::RepeatableRead).start()?;
        if read.query_opt(&prepared.container, &[])?.is_none() {
            return Ok(None);
        }
        let key = |key: i64| u32::try_from(key);
        let mut content = Content::default();
        for row in read.query(&prepared.lst, &[])? {
            content.lst.push(Entry { k1: key(row.get(0))?, k2: row.get(1), l: row.get(2) });
        }
        for row in read.query(&prepared.usr_lst, &[])? {
            content.usr_lst.push(OrderedEntry { k: key(row.get(0))?, l: row.get(1) });
        }
        read.commit()?;
        Ok(Some(content))
    }

    fn set(&mut self, store: Store, entries: &Content) -> Outcome<bool> {
        let prepared = &self.prepared[store as usize];
        let mut changed = 0;
        if !entries.lst.is_empty() {
            let k1: Vec<i64> = entries.lst.iter().map(|entry| entry.k1.into()).collect();
            let k2: Vec<&str> = entries.lst.iter().map(|entry| entry.k2.as_str()).collect();
            let l: Vec<Option<&str>> = entries.lst.iter().map(|entry| entry.l.as_deref()).collect();
            changed += self.client.execute(&prepared.set, &[&k1, &k2, &l])?;
        }
        if !entries.usr_lst.is_empty() {
            let k: Vec<i64> = entries.usr_lst.iter().map(|entry| entry.k.into()).collect();
            let l: Vec<Option<&str>> = entries.usr_lst.iter().map(|entry| entry.l.as_deref()).collect();
            changed += self.client.execute(&prepared.set_ordered, &[&k, &l])?;
        }
        Ok(changed > 0)
    }

    fn create_leaf(&mut self, entry: &Entry) -> Outcome<bool> {
        let statement = &self.prepared[0].create_leaf;
        Ok(self.client.execute(statement, &[&i64::from(entry.k1), &entry.k2, &entry.l])? > 0)
    }

    fn remove_leaf(&mut self, store: Store, number: u32) -> Outcome<bool> {
        let Entry { k1, k2, .. } = Entry::new(number);
        let statement = &self.prepared[store as usize].remove_leaf;
        Ok(self.client.execute(statement, &[&i64::from(k1), &k2])? > 0)
    }

    fn remove_entries(&mut self, store: Store, list: List) -> Outcome<bool> {
        let prepared = &self.prepared[store as usize];
        let statement = match list {
            List::Keyed => &prepared.remove_lst,
            List::Ordered => &prepared.remove_usr_lst,
        };
        Ok(self.client.execute(statement, &[])? > 0)
    }

    fn remove_container(&mut self) -> Outcome<bool> {
        Ok(self.client.execute(&self.prepared[0].remove_container, &[])? > 0)
    }

    fn subscribe(&mut self, count: usize) -> Outcome<Vec<Box<dyn Feed>>> {
        for store in [Store::Running, Store::Operational].map(name) {
            for (event, side) in TRIGGERS {
                self.client.batch_execute(&format!(
                    "create trigger keep_{event} after {event} on {store}.lst referencing {side} table as touched \
                     for each statement execute function keep_changes()"
                ))?;
            }
        }
        (0..count).map(|_| Ok(Box::new(Changes::listen(self.port)?) as Box<dyn Feed>)).collect()
    }

    fn position(&mut self) -> Outcome<Position> {
        let position: Option<i64> = self.client.query_one("select max(position) from changes", &[])?.get(0);
        Ok(u64::try_from(position.unwrap_or(0))?.into())
    }

    fn unsubscribe(&mut self) -> Outcome<()> {
        for store in [Store::Running, Store::Operational].map(name) {
            for (event, _) in TRIGGERS {
                self.client.batch_execute(&format!("drop trigger keep_{event} on {store}.lst"))?;
            }
        }
        Ok(self.client.batch_execute("truncate changes")?)
    }
}

/// Reads the table of changes each time that a notification comes.
struct Changes {
    client: Client,
    newer: Statement,
    /// Of the last change that it has read.
    position: i64,
}

impl Changes {
    fn listen(port: u16) -> Outcome<Changes> {
        let mut client = client(port)?;
        client.batch_execute("listen changes")?;
        let newer = client.prepare(
            "select position, store, what, k1, k2, l from changes where position > $1 order by position",
        )?;
        let last: Option<i64> = client.query_one("select max(position) from changes", &[])?.get(0);
        Ok(Changes { client, newer, position: last.unwrap_or(0) })
    }
}

impl Feed for Changes {
    fn wait(&mut self, time_max: Duration) -> Result<Option<Event>, String> {
        let told = self.client.notifications().timeout_iter(time_max).next();
        if told.map_err(|error| error.to_string())?.is_none() {
            return Ok(None);
        }
        let rows = self.client.query(&self.newer, &[&self.position]).map_err(|error| error.to_string())?;
        for row in &rows {
            let change: (&str, &str, i64, &str, Option<&str>) =
                (row.get(1), row.get(2), row.get(3), row.get(4), row.get(5));
            black_box(change);
        }
        let Some(last) = rows.last() else { return Ok(None) };
        self.position = last.get(0);
        Ok(Some(Event { position: self.position as u128, changes_count: rows.len() }))
    }
}
