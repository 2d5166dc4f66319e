//! Imports: JSON Lines or rows of CSV, of any number, committed in batches while they arrive.

use std::io::{Cursor, Read};
use std::sync::Arc;
use std::time::{Duration, Instant};

use annals::{Error, ErrorKind, Repository, Transaction};
use annals_exchange::Stop;
use annals_exchange::import::{
    ChangeCheck, CsvLoad, DeleteMax, GZIP_MAGIC, JsonlOptions, LineBounds, LoadOptions, Loader, Merge,
    MergeOptions, Missing, PlainObjects, Report, Run, Source, load_csv, load_jsonl,
};
use axum::body::Body;
use http::Method;
use http::header::{CONTENT_ENCODING, EXPECT};
use hyper::body::Bytes as Part;

use super::import_csv::{self, Rows};
use super::import_report::{Listener, Loaded, ended_early, outcome_of};
use crate::access::may_commit;
use crate::bounds::Bounds;
use crate::bounds::heavy::heavy;
use crate::bounds::limits::{IMPORT_BYTES, IMPORTS_MAX, Limits};
use crate::bounds::peers::{Kind, enter};
use crate::description::endpoint::Endpoint;
use crate::description::parameters;
use crate::protocol::header_text::content_length;
use crate::protocol::names::{CSV, NDJSON};
use crate::protocol::problem::{Outcome, Problem};
use crate::request::body::{Bytes, check_media_type};
use crate::request::call::Call;
use crate::request::commit::Signature;
use crate::request::upload::{discard, upload};

/// Changes in one batch, by default.
const BATCH_CHANGES: usize = 5_000;
/// Most changes in one batch.
const BATCH_CHANGES_MAX: usize = 100_000;
/// A body of at most this length waits for its turn as searches do, and is received whole before. Units: bytes.
const SHORT_BYTES_MAX: u64 = 128 << 10;
/// A packed body is short if it has at most so many bytes when it is unpacked. Units: bytes.
const UNPACKED_BYTES_MAX: u64 = 4 << 20;
/// How long a short body without room waits for its next turn.
const ROOM_WAIT: Duration = Duration::from_millis(50);
/// The room of a short body for each of its bytes: parsed JSON of small parts takes so much. It has at least
/// [`SHORT_ROOM_MIN`].
const SHORT_ROOM_FACTOR: usize = 256;
/// Units: bytes.
const SHORT_ROOM_MIN: usize = 1 << 20;
/// The name of the body in messages of records and in reasons.
const NAME: &str = "POST /v1/import";

/// The endpoints of this file.
pub fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::POST, "/v1/import", "Load JSON Lines or CSV", post)
            .describe(
                "One type, entity or relationship per line, as `annals import` reads them and `GET /v1/export` writes them; or \
                 plain objects, with `id`, or with `from`, `to` and `type`. The same may be the elements of one array. \
                 Or CSV (`Content-Type: text/csv`), with the header of neo4j-admin, or with a plain one and the same parameters. \
                 gzip is accepted. The body may have any length. The server commits batches while the body arrives, each \
                 completely or not at all. It skips a bad line and reports it in the answer, which it sends after the last \
                 line. If the import ends early, committed batches stay: the problem then has the members of ImportReport, too.",
            )
            .tag("exchange")
            .takes(parameters::importing())
            .takes_lines("ImportLine")
            .or_takes(CSV, "Csv")
            .streaming()
            .answers(200, "Everything is committed except the refused lines.", "ImportReport")
            .changes_instances()
            .fails(&["already-exists", "invalid-classification", "status-not-allowed", "proxy-only", "not-home", "home-conflict"])
            .fails(&["read-only", "not-writer", "conflict", "busy", "stopping", "unavailable", "outcome-unknown", "partly-written"])
            .fails(&["no-room", "io"]),
    ]
}

/// The options of a request.
struct Order {
    /// The file that the body is, if the client names it.
    name: Option<String>,
    is_resuming: bool,
    load: LoadOptions,
    valid_from: Option<annals::Instant>,
    line_bounds: LineBounds,
    merge: Option<Merge>,
    plain: Option<PlainObjects>,
    /// How rows are read, if the body is CSV.
    rows: Option<Rows>,
    delete_max: DeleteMax,
    is_stopping: bool,
}

impl Order {
    fn of(call: &Call, bytes: usize) -> Result<Order, Problem> {
        let Signature { author, message, valid_from, .. } = Signature::of(call)?;
        let rows = import_csv::is_csv(call).then(|| Rows::of(call)).transpose()?;
        let plain = if rows.is_some() { None } else { plain(call)? };
        let batch_changes = call.query.number("batch")?.unwrap_or(BATCH_CHANGES);
        if !(1..=BATCH_CHANGES_MAX).contains(&batch_changes) {
            let text = format!("parameter batch: expected 1 to {BATCH_CHANGES_MAX}, found {batch_changes}");
            return Err(Problem::invalid(text).with("parameter", "batch"));
        }
        let keys: Vec<String> = call.query.all("key").map(str::to_owned).collect();
        let is_deleting = call.query.flag("deleteMissing")?;
        let is_merging = call.query.flag("merge")?;
        let (is_replacing, has_valid_times) =
            (call.query.flag("replace")?, call.query.flag("mergeValidTimes")?);
        if !is_merging && (is_deleting || is_replacing || has_valid_times || !keys.is_empty()) {
            let text = "parameters key, deleteMissing, replace and mergeValidTimes: expected merge=true beside them; add it";
            return Err(Problem::invalid(text).with("parameter", "merge"));
        }
        let name = call.query.get("name").map(str::to_owned);
        let is_resuming = call.query.flag("resume")?;
        if is_resuming && (is_merging || name.is_none()) {
            let text = "parameter resume: expected the name of the file beside it, and no merge; add name, or leave resume out";
            return Err(Problem::invalid(text).with("parameter", "resume"));
        }
        let options = MergeOptions { keys, is_deleting, is_replacing, has_valid_times, valid_from };
        Ok(Order {
            name,
            is_resuming,
            load: LoadOptions {
                batch_changes,
                // A sixteenth of the room for each batch in progress, and a quarter for all of them.
                batch_bytes_max: bytes / 64,
                author,
                message,
                check: Some(change_check(call)),
            },
            valid_from,
            line_bounds: LineBounds {
                bytes_max: call.door.bounds.limits.body_bytes_max.min(bytes / 4),
                tree_bytes_max: Some(bytes / 2),
            },
            merge: is_merging.then(|| Merge::new(options)),
            plain,
            rows,
            delete_max: call.query.parsed("deleteMissingMax", "a share from 0 to 100")?.unwrap_or_default(),
            is_stopping: call.query.flag("stopOnError")?,
        })
    }
}

/// Lets batches write only while the client stands, and only what it may commit.
fn change_check(call: &Call) -> ChangeCheck {
    let (by, door) = (Arc::clone(&call.principal), Arc::clone(&call.door));
    let check = move |transaction: &Transaction| {
        // This kind ends the import, and refuses no line.
        let ended = |problem: Problem| Error::new(ErrorKind::Closed, problem.detail());
        door.access.check_standing(&by).map_err(ended)?;
        let allowed = may_commit(&by, transaction, None);
        allowed.map_err(|problem| Error::new(ErrorKind::Refused, problem.detail()))
    };
    ChangeCheck(Arc::new(check))
}

/// How plain objects are read, if the request says so.
fn plain(call: &Call) -> Result<Option<PlainObjects>, Problem> {
    import_csv::refuse_parameters(call)?;
    let type_name = call.query.get("type").map(str::to_owned);
    match import_csv::plain(call)? {
        Some(plain) => Ok(Some(PlainObjects::new(plain, type_name)?)),
        None if type_name.is_none() => Ok(None),
        None => Err(import_csv::no_plain()),
    }
}

async fn post(mut call: Box<Call>) -> Outcome {
    let mut body = call.take_body();
    let is_waiting = call.headers.contains_key(EXPECT);
    let outcome = import(call, &mut body).await;
    // A client that waits for `100 Continue` gets the answer before it sends anything.
    if outcome.is_err() && !is_waiting {
        discard(&mut body).await;
    }
    Ok(outcome.unwrap_or_else(ended_early))
}

async fn import(call: Box<Call>, body: &mut Body) -> Outcome {
    check_media_type(&call.headers, &[NDJSON, CSV])?;
    check_encoding(&call)?;
    call.wait_visible().await?;
    let repository = call.door.repository()?.clone();
    repository.check_writer()?;
    let bytes = import_bytes(&call.door.bounds.limits);
    let order = Order::of(&call, bytes)?;
    if content_length(&call.headers).is_some_and(|length| length <= SHORT_BYTES_MAX) {
        let whole = std::mem::replace(body, Body::empty());
        let received =
            Bytes::receive_any(&call.door.bounds, &call.headers, whole, call.body_room.clone()).await?;
        let received = Part::from_owner(received);
        match unpacked_length(&call.door.bounds, received.clone()).await? {
            Some(length) => return import_short(call.into(), repository, received, length).await,
            // Unpacked it is long, so it needs a place as any long one.
            None => *body = Body::from(received),
        }
    }
    let began_at = Run::begin(&repository);
    let place = enter(&call.door.bounds.gates.imports, (&call.peer, Kind::Imports, IMPORTS_MAX), || {
        format!("{IMPORTS_MAX} imports are under way; try again when one of them is done")
    })?;
    call.body_room.reserve_unshared(&call.door.bounds, bytes)?;
    let room = call.body_room.clone();
    let (inlet, upload) = upload();
    let running = tokio::task::spawn_blocking(move || {
        // Released when the work is done, also if the client goes earlier.
        let _held = (place, room);
        load(&repository, began_at, order, upload)
    });
    let mut changes = call.door.access.changes();
    let received = tokio::select! {
        biased;
        received = inlet.receive(&call.door.bounds, call.door.stopping(), body) => received,
        // The batches that are not committed yet are refused, too.
        () = call.door.access.ended(&call.principal, &mut changes) => Ok(()),
    };
    let loaded = match running.await {
        Ok(loaded) => loaded,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    };
    call.door.metrics.count_commits(loaded.records_count());
    outcome_of(received.and(standing(&call, &loaded)), &loaded)
}

/// The reason of an import that ended early, if it is that its client does not stand any more.
fn standing(call: &Call, loaded: &Loaded) -> Result<(), Problem> {
    if loaded.is_whole() {
        return Ok(());
    }
    call.door.access.check_standing(&call.principal).map_err(|problem| loaded.told_what_stays(problem))
}

/// The length of a body when it is unpacked; `None` if that is more than short.
async fn unpacked_length(bounds: &Bounds, body: Part) -> Result<Option<usize>, Problem> {
    if !body.starts_with(&GZIP_MAGIC) {
        return Ok(Some(body.len()));
    }
    let measure = move || {
        let unpacked = Source::from_reader(NAME, Cursor::new(body))?;
        let length = std::io::copy(&mut unpacked.take(UNPACKED_BYTES_MAX + 1), &mut std::io::sink());
        // The import says what is wrong with a body that cannot be unpacked.
        let length = length.unwrap_or(UNPACKED_BYTES_MAX);
        Ok((length <= UNPACKED_BYTES_MAX).then_some(length as usize))
    };
    heavy(bounds, measure).await
}

/// Imports a body of such a length when it is unpacked: it waits for its turn. Without room for it, it takes another turn
/// later, so that searches go on meanwhile.
async fn import_short(call: Arc<Call>, repository: Repository, body: Part, length: usize) -> Outcome {
    let bytes_max = import_bytes(&call.door.bounds.limits);
    let bytes = length.saturating_mul(SHORT_ROOM_FACTOR).max(SHORT_ROOM_MIN).min(bytes_max);
    let deadline = Instant::now() + call.door.bounds.limits.body_time();
    loop {
        let (known, repository, body) = (Arc::clone(&call), repository.clone(), body.clone());
        let turn = heavy(&call.door.bounds, move || {
            if let Err(problem) = known.body_room.reserve_unshared(&known.door.bounds, bytes) {
                return Ok(Err(problem));
            }
            let (order, run) = (Order::of(&known, bytes)?, Run::begin(&repository));
            Ok(Ok(load(&repository, run, order, Cursor::new(body))))
        });
        match turn.await? {
            Ok(loaded) => {
                call.door.metrics.count_commits(loaded.records_count());
                return outcome_of(standing(&call, &loaded), &loaded);
            }
            Err(problem) if Instant::now() >= deadline => return Err(problem),
            Err(_) => tokio::time::sleep(ROOM_WAIT).await,
        }
    }
}

/// Memory for lines, batches and parsed parts of one import. Units: bytes.
fn import_bytes(limits: &Limits) -> usize {
    IMPORT_BYTES.min(limits.bodies_bytes_max / 4)
}

/// The server recognises gzip by its first bytes, so the header is optional; but its value must be a known one.
fn check_encoding(call: &Call) -> Result<(), Problem> {
    let encoding = call.headers.get(CONTENT_ENCODING).map_or(Ok("identity"), |value| value.to_str());
    if encoding.is_ok_and(|encoding| ["identity", "gzip", "x-gzip"].contains(&encoding.trim())) {
        return Ok(());
    }
    Err(Problem::door(
        "unsupported-media-type",
        "header Content-Encoding: expected gzip or identity, found another one; send the body as it is or packed by gzip",
    ))
}

fn load(repository: &Repository, run: Run, mut order: Order, body: impl Read + Send + 'static) -> Loaded {
    let name = order.name.as_deref().unwrap_or(NAME);
    let listener = Arc::new(Listener::default());
    let mut report = Report::new(Arc::clone(&listener) as _, order.is_stopping);
    report.merge = order.merge.take();
    let missing =
        Missing { began_at: run.began_at, delete_max: order.delete_max, option: "deleteMissingMax=" };
    let began = if order.is_resuming { Run::latest(repository, name, &()) } else { Ok(run) };
    let outcome = began
        .and_then(|run| Ok((run, Source::from_reader("body", body)?)))
        .map_err(Stop::from)
        .and_then(|(run, source)| load_body(repository, &mut report, &order, run, source))
        .and_then(|()| missing.delete(repository, &order.load, &mut report));
    report.finish();
    Loaded::new(outcome, report.summary, &listener, repository.snapshot().position())
}

/// Loads the lines or the rows of a body.
fn load_body(
    repository: &Repository,
    report: &mut Report,
    order: &Order,
    run: Run,
    source: Source,
) -> annals_exchange::Outcome {
    let name = order.name.as_deref().unwrap_or(NAME);
    let Order { valid_from, line_bounds, .. } = *order;
    let is_resumable = order.name.is_some();
    if let Some(rows) = &order.rows {
        let rows = rows.open(source).map_err(Stop::Refused)?;
        let mut loader = Loader::new(repository, &order.load, report, name, run);
        let options = CsvLoad { valid_from, line_bounds, is_resumable };
        let outcome = load_csv(&mut loader, rows, options, &mut || {});
        return loader.end(outcome);
    }
    let options = JsonlOptions {
        load: &order.load,
        name,
        is_resuming: order.is_resuming,
        run,
        set_aside: Default::default(),
        valid_from,
        line_bounds,
        plain: order.plain.as_ref(),
        is_shared: true,
        is_resumable,
    };
    load_jsonl(repository, report, source, options, &mut || {})
}
