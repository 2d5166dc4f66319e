//! The schema of a log, and all its statements.

use uuid::Uuid;

/// The format of the tables that this version writes.
pub(super) const FORMAT: i32 = 1;

/// The statements of a log in one schema.
pub(super) struct Sql {
    schema: String,
    pub origin: String,
    pub tail: String,
    pub append: String,
    pub at: String,
    pub prove: String,
    pub read: String,
    pub bytes: String,
    pub damage: String,
    pub ends: String,
    pub get: String,
    pub set: String,
    pub swap: String,
    pub now: String,
    pub begin_rewriting: String,
    pub prepare: String,
    pub discard: String,
    pub put_in_place: String,
    pub rewriting: String,
    pub calls: String,
    pub vacuumed: String,
    pub adopt: String,
}

/// The last call of the log.
const LAST: &str = "(select last, token, bytes from {s}.call order by first desc limit 1)";

/// One row for the call. Without the log, beyond the next position, or behind another call than the writer knows, it
/// inserts nothing; nor does it if the position is taken.
const APPEND: &str = "
    insert into {s}.call (first, last, token, term, writer, bytes, index, body)
    select $1::int8, $2::int8, $3::uuid, $4::int8, $5::uuid, coalesce(p.bytes, 0) + $6::int8, $7::bytea, $8::bytea
    from {s}.log l left join {last} p on true
    where l.one and l.id = $9::uuid and coalesce(p.last, 0) = $1 - 1 and ($10::uuid is null or p.token = $10)
    on conflict (first) do nothing returning bytes";

/// The calls with the records from $1 on, at most $3 of them: the whole calls within $2 bytes, and of the first one as much as
/// that, but at least one record.
const READ: &str = "
    with start as (select first, bytes from {s}.call where first <= $1::int8 order by first desc limit 1),
    found as (
        select c.first, c.last, c.token, c.bytes, c.index, c.body, greatest($1 - c.first, 0) as skipped,
            least(c.last - c.first + 1, $1 + $3::int8 - c.first) as stop
        from {calls} c, start s
        where c.first >= s.first and c.first < $1 + $3 and c.last >= $1
            and (c.first = s.first or c.bytes - s.bytes <= $2::int8)
    ),
    placed as (
        select first, last, token, bytes, index, body, skipped, stop,
            case when skipped = 0 then 0 else {end skipped} end as begin, {end skipped + 1} as first_end,
            {end stop} as stop_end
        from found
    )
    select l.id, l.generation, p.first, p.last, p.token, p.bytes, p.begin,
        substring(p.index from (8 * p.skipped + 1)::int4 for (8 * (p.stop - p.skipped))::int4) as index,
        substring(p.body from (p.begin + 1)::int4
            for greatest(0, least(p.stop_end - p.begin, greatest($2, p.first_end - p.begin)))::int4) as body
    from {s}.log l left join placed p on true where l.one";

/// The end of the record with this number in the body, counted from 1; 0 is before the first.
fn end(number: &str) -> String {
    format!("('x' || encode(substring(index from (8 * ({number}) - 7)::int4 for 4), 'hex'))::bit(32)::int8")
}

/// Puts the rewriting $1 in place, if none came since generation $3 and all its $4 calls are prepared.
const PUT_IN_PLACE: &str = "
    with raised as (
        update {s}.log set generation = generation + 1, rewriting = $1::uuid, saved = saved + $2::int8,
            is_vacuumed = false
        where one and generation = $3::int8
            and (select count(*) from {s}.rewritten where attempt = $1) = $4::int8
        returning 1
    ),
    changed as (
        update {s}.call c set index = r.index, body = r.body from {s}.rewritten r
        where r.attempt = $1 and c.first = r.first and exists (select from raised)
        returning 1
    ),
    cleared as (delete from {s}.rewritten where attempt = $1 and exists (select from raised))
    select (select count(*) from raised), (select count(*) from changed)";

/// The first call that does not fit the one before it, or its own index; and how many calls there are.
const DAMAGE: &str = "
    select (select min(first) from (
        select first, last, coalesce(lag(last) over (order by first), 0) as before,
            octet_length(index) as entries
        from {s}.call
    ) c
    where first <> before + 1 or last < first or entries <> 8 * (last - first + 1)),
    (select count(*) from {s}.call)";

impl Sql {
    /// `schema` needs no quotes.
    pub fn new(schema: &str) -> Sql {
        let text = |text: &str| text.replace("{last}", LAST).replace("{s}", schema);
        Sql {
            schema: schema.to_owned(),
            origin: text("select id, format, generation, is_vacuumed from {s}.log where one"),
            tail: text(
                "select l.id, l.generation, l.saved, p.last, p.token, p.bytes
                 from {s}.log l left join {last} p on true where l.one",
            ),
            append: text(APPEND),
            at: text(
                "select l.id, l.generation, c.first, c.token, p.last, p.token
                 from {s}.log l left join {s}.call c on c.first = $1::int8 left join {last} p on true where l.one",
            ),
            prove: text(
                "insert into {s}.proof (one, at) values (true, clock_timestamp())
                 on conflict (one) do update set at = excluded.at",
            ),
            read: read(schema, &format!("{schema}.call")),
            bytes: text("select bytes from {s}.call where first <= $1::int8 order by first desc limit 1"),
            damage: text(DAMAGE),
            ends: text(
                "select first, last from {s}.call where first > $1::int8 and first <= $2::int8 order by first limit 1000",
            ),
            get: text(
                "select l.id, l.generation, r.value from {s}.log l left join {s}.register r on r.slot = $1::text
                 where l.one",
            ),
            set: text(
                "insert into {s}.register (slot, value) values ($1::text, $2::bytea) on conflict (slot) do nothing",
            ),
            swap: text("update {s}.register set value = $2::bytea where slot = $1::text and value = $3::bytea"),
            now: "select (extract(epoch from clock_timestamp()) * 1000000)::int8".to_owned(),
            begin_rewriting: text("delete from {s}.rewritten"),
            prepare: text(
                "insert into {s}.rewritten (attempt, first, index, body)
                 values ($1::uuid, $2::int8, $3::bytea, $4::bytea)",
            ),
            discard: text("delete from {s}.rewritten where attempt = $1::uuid"),
            put_in_place: text(PUT_IN_PLACE),
            rewriting: text("select 1 from {s}.log where one and rewriting = $1::uuid"),
            calls: text("{s}.call"),
            adopt: text("update {s}.log set id = $1::uuid where one and id = $2::uuid"),
            vacuumed: text("update {s}.log set is_vacuumed = true where one and generation = $1::int8"),
        }
    }

    /// As `read`, with the calls that a rewriting has prepared in the place of those in force.
    pub fn read_rewritten(&self, attempt: Uuid) -> String {
        let s = &self.schema;
        let calls = format!(
            "(select c.first, c.last, c.token, c.bytes, coalesce(r.index, c.index) as index,
                coalesce(r.body, c.body) as body
              from {s}.call c left join {s}.rewritten r on r.attempt = '{attempt}'::uuid and r.first = c.first)"
        );
        read(s, &calls)
    }

    /// Creates what is missing, in one transaction. Two writers at once wait for each other.
    ///
    /// No statistics of the contents: PostgreSQL would keep samples of them after they were purged.
    pub fn create(&self, id: Uuid, has_schema: bool) -> String {
        let s = &self.schema;
        // Also a statement that finds the schema needs the right to create it.
        let schema = if has_schema { String::new() } else { format!("create schema if not exists {s};") };
        format!(
            "select pg_catalog.pg_advisory_xact_lock(hashtext('annals log {s}'));
             {schema}
             create table if not exists {s}.log (
                one boolean primary key default true check (one),
                format int4 not null,
                id uuid not null,
                generation int8 not null default 0,
                rewriting uuid,
                saved int8 not null default 0,
                is_vacuumed boolean not null default true);
             create table if not exists {s}.call (
                first int8 primary key,
                last int8 not null,
                token uuid not null,
                term int8 not null,
                writer uuid not null,
                bytes int8 not null,
                index bytea not null,
                body bytea not null);
             create table if not exists {s}.rewritten (
                attempt uuid,
                first int8,
                index bytea not null,
                body bytea not null,
                primary key (attempt, first));
             create table if not exists {s}.register (slot text primary key, value bytea not null)
                with (fillfactor = 50);
             create table if not exists {s}.proof (
                one boolean primary key default true check (one),
                at timestamptz not null) with (fillfactor = 50);
             alter table {s}.call alter column index set storage external, alter column body set storage external,
                alter column index set statistics 0, alter column body set statistics 0;
             alter table {s}.rewritten
                alter column index set storage external, alter column body set storage external,
                alter column index set statistics 0, alter column body set statistics 0;
             insert into {s}.log (format, id) values ({FORMAT}, '{id}') on conflict do nothing;"
        )
    }

    /// Shape: whether the schema is there, and whether the log is.
    pub fn exists(&self) -> String {
        let s = &self.schema;
        format!("select to_regnamespace('{s}') is not null, to_regclass('{s}.log') is not null")
    }

    /// Inserts a call twice at a position that no log has, and takes it back. Shape: the third and the fourth count are
    /// 1 and 0 at a server that keeps conditions.
    pub fn trial(&self) -> String {
        let insert = format!(
            "insert into {}.call (first, last, token, term, writer, bytes, index, body)
             values (0, 0, gen_random_uuid(), 0, gen_random_uuid(), 0, '', '') on conflict (first) do nothing",
            self.schema
        );
        format!("begin; {insert}; {insert}; rollback")
    }
}

fn read(schema: &str, calls: &str) -> String {
    READ.replace("{s}", schema)
        .replace("{calls}", calls)
        .replace("{end skipped}", &end("skipped"))
        .replace("{end skipped + 1}", &end("skipped + 1"))
        .replace("{end stop}", &end("stop"))
}
