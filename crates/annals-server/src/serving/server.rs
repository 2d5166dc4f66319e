//! Listens, serves connections, and stops without losing an acknowledged write.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant as Clock, SystemTime};

use annals::{Error, ErrorKind, Observer, Options, Position, Repository, Result};
use annals_logs::Place;
use sd_notify::NotifyState;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::signal::unix::{Signal as UnixSignal, SignalKind, signal};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::open_files;
use super::router::router;
use super::server_file::{self, KnownServer, ServerFile};
use crate::access::{Access, AccessSettings, Client, ServerProof};
use crate::bounds::limits::Limits;
use crate::bounds::peers::Peer;
use crate::connection::activity::Activity;
use crate::connection::open_connections::OpenConnections;
use crate::connection::service::{Connection, check_clock, refuse, serve_connection};
use crate::connection::stream::Stream;
use crate::layers::shed::refusal;
use crate::ldp::LdpSettings;
use crate::protocol::problem::Problem;
use crate::reporting::logging::{self, LogFile, LogSettings};
use crate::request::door::Door;
use crate::request::hosts::{Host, Hosts, Origin, PublicUrl};

/// The repository to serve, and the address.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The folder of the repository, or its log in a store.
    pub place: Place,
    /// Address to listen at; port 0 for any free one.
    pub listen: SocketAddr,
    /// Names of the server, in addition to localhost and the address it listens at.
    pub hosts: Vec<Host>,
    /// Origins whose web pages may read and write.
    pub origins: Vec<Origin>,
    /// The address by which clients call the server through a proxy.
    pub public_url: Option<PublicUrl>,
    /// The address that other servers of a log in a store tell to clients while this one writes; if left out the public one,
    /// or where it listens.
    pub address: Option<Origin>,
    /// The LDP door; `None` closes it.
    pub ldp: Option<LdpSettings>,
    /// Which clients may come.
    pub access: AccessSettings,
    /// The log of the process.
    pub log: LogSettings,
    /// How the repository is opened.
    pub options: Options,
    /// Bounds.
    pub limits: Limits,
}

/// Threads for short work that waits for a disk: pieces of contents.
pub(crate) const PIECES_MAX: usize = 16;

/// Serves a repository until a signal (SIGTERM or SIGINT). It calls `on_listen` with the address, and `on_open` with
/// the repository once it is open.
///
/// Errors: those of opening the repository; `Io` if the address cannot be listened at.
pub fn serve(
    settings: Settings,
    on_listen: impl FnOnce(SocketAddr),
    on_open: impl FnMut(&Repository),
) -> Result<()> {
    let log = logging::start(&settings.log)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(settings.limits.threads_max() + PIECES_MAX)
        .thread_name("annals-http")
        .build()
        .map_err(|source| Error::io("start the runtime", source))?;
    let result = runtime.block_on(run(settings, &log, on_listen, on_open));
    // Work of clients that have gone may still run; it only reads.
    runtime.shutdown_timeout(Duration::from_secs(1));
    log.finish();
    result
}

async fn run(
    settings: Settings,
    log: &LogFile,
    on_listen: impl FnOnce(SocketAddr),
    mut on_open: impl FnMut(&Repository),
) -> Result<()> {
    settings.access.check(settings.listen)?;
    let access = Access::new(settings.access.clone())?;
    let listener = listen(settings.listen)
        .map_err(|source| Error::io("listen", source).with("address", settings.listen))?;
    let address = listener.local_addr().map_err(|source| Error::io("ask for the address", source))?;
    let door = door_at(address, access, &settings, log);
    let mut signals = Signals::new()?;
    on_listen(address);
    let mut opened = open(&door, &settings, address)?;
    let mut connections = JoinSet::new();
    let mut accepting =
        Box::pin(accept(Arc::clone(&door), settings.ldp.clone(), &listener, &mut connections));
    let mut is_opening = true;
    let mut server_file = None;
    let result = loop {
        tokio::select! {
            () = &mut accepting => unreachable!("it accepts for ever"),
            signal = signals.next() => match signal {
                Signal::Stop(name) => {
                    tracing::info!(signal = name, "stopping");
                    break Ok(());
                }
                Signal::Reopen => {
                    door.access.reload();
                    if !log.reopen() {
                        tracing::info!(signal = "SIGHUP", "the log has no file to reopen");
                    }
                }
            },
            outcome = &mut opened, if is_opening => {
                is_opening = false;
                if let Err(error) = admit(&door, outcome, &mut on_open) {
                    break Err(error);
                }
                // Order: only who has the lock of the repository says where it is.
                server_file = tell_commands(&door, &settings, address);
            }
        }
    };
    drop(accepting);
    drop(listener);
    drop(server_file);
    notify(&[NotifyState::Stopping]);
    stop(&door, connections, &mut signals).await;
    let result = result.and(close(&door).await);
    match &result {
        Ok(()) => tracing::info!("stopped"),
        Err(error) => tracing::error!("stopped: {error}"),
    }
    result
}

/// Lets commands find this server, and gives it what it proves itself by. A log in a store tells its address in the lease.
fn tell_commands(door: &Door, settings: &Settings, address: SocketAddr) -> Option<ServerFile> {
    if settings.options.is_read_only {
        return None;
    }
    let Some(folder) = settings.place.folder() else {
        let secret = door.opened()?.lease_secret()?;
        let _ = door.proof.set(ServerProof::of_lease(secret));
        return None;
    };
    let url = server_file::url(address, door.access.tls.is_some());
    let (proof, secret) = ServerProof::new();
    let _ = door.proof.set(proof);
    let written = ServerFile::write(folder, &url, &door.id, &secret);
    written.inspect_err(|error| tracing::warn!(%error, "no server.json")).ok()
}

/// The door behind an address, which is told to the log.
fn door_at(address: SocketAddr, access: Access, settings: &Settings, log: &LogFile) -> Arc<Door> {
    let folder = settings.place.folder();
    let name = folder.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let name =
        percent_encoding::utf8_percent_encode(&name.unwrap_or_default(), percent_encoding::NON_ALPHANUMERIC)
            .to_string();
    let hosts = Hosts::new(
        address.ip(),
        settings.hosts.clone(),
        settings.origins.clone(),
        settings.public_url.clone(),
    );
    let source = format!("urn:annals:{name}");
    let files_max = open_files::raise();
    let wanted = settings.limits.connections_max;
    let connections_max = open_files::connections_max(wanted, files_max);
    let limits = Limits { connections_max, ..settings.limits.clone() };
    let mut door = Door::new(limits, hosts, source);
    door.access = access;
    if let Some(folder) = folder.map(Path::to_owned) {
        door.writer = Box::new(move || Some(KnownServer::read(&folder).ok()??.url));
    }
    door.metrics.dropped_lines = log.dropped();
    let (version, folder) = (env!("CARGO_PKG_VERSION"), &settings.place);
    tracing::info!(version, %address, %folder, connections_max, "listening");
    if connections_max < wanted {
        let files_max = files_max.unwrap_or_default();
        tracing::info!(
            connections_max,
            files_max,
            "the hard limit of open files leaves fewer connections than connections-max, {wanted}"
        );
    }
    Arc::new(door)
}

/// Listens with room for clients that come at the same time.
fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    // Linux allows no more unless its settings say otherwise.
    const WAITING_MAX: u32 = 4_096;
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(WAITING_MAX)
}

/// Opens the repository on a separate thread, which reports its progress to the door.
fn open(
    door: &Arc<Door>,
    settings: &Settings,
    address: SocketAddr,
) -> Result<oneshot::Receiver<Result<Repository>>> {
    let (done, opened) = oneshot::channel();
    let progress = Arc::clone(door);
    let reported = Mutex::new(Clock::now());
    let place = settings.place.clone();
    let options = Options {
        address: Some(told_address(settings, address, door.access.tls.is_some())),
        on_replay: Some(Arc::new(move |replayed, records| {
            report_replay(&progress, &reported, replayed, records)
        })),
        observer: Some(Arc::clone(door) as Arc<dyn Observer>),
        ..settings.options.clone()
    };
    std::thread::Builder::new()
        .name("annals-open".into())
        .spawn(move || {
            let _ = done.send(place.open(options));
        })
        .map_err(|source| Error::io("start the thread annals-open", source))?;
    Ok(opened)
}

/// The address of this server for clients of other servers of its log.
fn told_address(settings: &Settings, address: SocketAddr, has_tls: bool) -> String {
    let own = settings.address.as_ref().map(|origin| origin.text().to_owned());
    let public = || settings.public_url.as_ref().map(|url| url.text().to_owned());
    own.or_else(public).unwrap_or_else(|| server_file::url(address, has_tls))
}

/// Notes the progress of opening, and reports it at intervals to the log and to the service manager.
fn report_replay(door: &Door, reported: &Mutex<Clock>, replayed: Position, records: Position) {
    const REPORT_TIME: Duration = Duration::from_secs(5);
    door.replayed.0.store(replayed.0, Ordering::Relaxed);
    door.replayed.1.store(records.0, Ordering::Relaxed);
    let mut reported = reported.lock().unwrap_or_else(PoisonError::into_inner);
    if reported.elapsed() < REPORT_TIME {
        return;
    }
    *reported = Clock::now();
    tracing::info!(replayed = replayed.0, records = records.0, "replaying the log");
    let status = format!("replaying the log: {replayed} of {records} records");
    let longer = u32::try_from(12 * REPORT_TIME.as_micros()).unwrap_or(u32::MAX);
    notify(&[NotifyState::Status(&status), NotifyState::ExtendTimeoutUsec(longer)]);
}

/// Notifies the service manager (systemd, `Type=notify`), if there is one.
fn notify(state: &[NotifyState]) {
    if let Err(error) = sd_notify::notify(state) {
        tracing::warn!("the service manager cannot be notified: {error}");
    }
}

fn admit(
    door: &Arc<Door>,
    outcome: std::result::Result<Result<Repository>, oneshot::error::RecvError>,
    on_open: &mut impl FnMut(&Repository),
) -> Result<()> {
    let repository = outcome.unwrap_or_else(|_| {
        Err(Error::new(ErrorKind::Unavailable, "open: the thread that opens the repository panicked"))
    })?;
    for warning in repository.warnings() {
        tracing::warn!("{warning}");
    }
    let snapshot = repository.snapshot();
    tracing::info!(
        position = snapshot.position().0,
        entities = snapshot.entities_count(),
        relationships = snapshot.relationships_count(),
        seconds = door.start.elapsed().as_secs_f64(),
        "repository open"
    );
    drop(snapshot);
    on_open(&repository);
    notify(&[NotifyState::Ready, NotifyState::Status("serving")]);
    door.open(repository).map_err(|source| Error::io("start the thread annals-herald", source))
}

/// Accepts connections without end, a bounded number at once.
async fn accept(
    door: Arc<Door>,
    ldp: Option<LdpSettings>,
    listener: &TcpListener,
    connections: &mut JoinSet<()>,
) {
    // Pause after a failed accept: most likely there are no file handles left, and an immediate retry would only waste
    // CPU time.
    const PAUSE: Duration = Duration::from_millis(50);
    // A connection that must make room closes at once, unless its thread is busy.
    const ROOM_TIME: Duration = Duration::from_millis(100);
    let router = router(&door, ldp);
    // With TLS there is no answer before a handshake.
    let turn_away = |stream: &TcpStream, problem: &Problem| {
        if door.access.tls.is_none() {
            refuse(stream, problem);
        }
    };
    let mut open = OpenConnections::default();
    loop {
        while connections.try_join_next().is_some() {}
        let Ok((stream, address)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        if let Err(problem) = check_clock(SystemTime::now()) {
            turn_away(&stream, &problem);
            continue;
        }
        let mut permit = Arc::clone(&door.bounds.gates.connections).try_acquire_owned().ok();
        if permit.is_none() && open.close_idlest() {
            let next = Arc::clone(&door.bounds.gates.connections).acquire_owned();
            permit = tokio::time::timeout(ROOM_TIME, next).await.ok().and_then(std::result::Result::ok);
        }
        let Some(permit) = permit else {
            turn_away(&stream, &Problem::busy("too many connections; try again later"));
            continue;
        };
        let (door, router) = (Arc::clone(&door), router.clone());
        let activity = open.add(door.bounds.limits.connections_max);
        connections.spawn(async move {
            let _permit = permit;
            let peer = door.bounds.peers.at(address.ip());
            serve_stream(door, router, stream, activity, (peer, address.ip())).await;
        });
    }
}

async fn serve_stream(
    door: Arc<Door>,
    router: axum::Router,
    stream: TcpStream,
    activity: Arc<Activity>,
    (peer, address): (Arc<Peer>, IpAddr),
) {
    // Answers are small and complete: waiting to fill packets only adds latency.
    let _ = stream.set_nodelay(true);
    door.metrics.connections.inc();
    let reached = stream.local_addr().ok();
    let (stream, certificate) = match &door.access.tls {
        None => (Stream::Plain(stream), None),
        Some(tls) => {
            let mut stopping = door.stopping();
            let accepted = tokio::select! {
                accepted = tokio::time::timeout(door.bounds.limits.head_time, Stream::accept(tls, stream)) => accepted.ok().flatten(),
                // It makes room for another connection.
                () = activity.evicted.notified() => None,
                _ = stopping.wait_for(|is_stopping| *is_stopping) => None,
            };
            let Some(accepted) = accepted else {
                door.metrics.connections.dec();
                return;
            };
            accepted
        }
    };
    let client = Client { address, reached, has_tls: door.access.tls.is_some(), certificate };
    let (bounds, stopping) = (Arc::clone(&door.bounds), door.stopping());
    let connection = Connection { stream, activity, peer, client, bounds, stopping };
    let shedding = Arc::clone(&door);
    serve_connection(connection, router, move |request| refusal(&shedding, request)).await;
    door.metrics.connections.dec();
}

/// Lets requests in progress end, within the bound or until a second signal.
async fn stop(door: &Arc<Door>, mut connections: JoinSet<()>, signals: &mut Signals) {
    door.stop();
    // A compaction in progress would last until the bound.
    door.opened().into_iter().for_each(Repository::begin_closing);
    let ended = async { while connections.join_next().await.is_some() {} };
    tokio::select! {
        _ = tokio::time::timeout(door.bounds.limits.stop_time, ended) => {}
        () = signals.stop() => {}
    }
    connections.abort_all();
}

/// Commits what was submitted and closes the repository.
async fn close(door: &Arc<Door>) -> Result<()> {
    let Some(repository) = door.opened().cloned() else { return Ok(()) };
    tokio::task::spawn_blocking(|| repository.close()).await.expect("closing does not panic")
}

/// The meaning of a signal.
enum Signal {
    /// End in order. Shape: the name of the signal.
    Stop(&'static str),
    /// Open files again that another program may have renamed.
    Reopen,
}

/// SIGTERM, SIGINT and SIGHUP.
struct Signals {
    terminate: UnixSignal,
    interrupt: UnixSignal,
    hang_up: UnixSignal,
}

impl Signals {
    fn new() -> Result<Signals> {
        let listen = |kind| signal(kind).map_err(|source| Error::io("listen for signals", source));
        Ok(Signals {
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
            hang_up: listen(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.terminate.recv() => Signal::Stop("SIGTERM"),
            _ = self.interrupt.recv() => Signal::Stop("SIGINT"),
            _ = self.hang_up.recv() => Signal::Reopen,
        }
    }

    /// Waits for a signal to stop.
    async fn stop(&mut self) {
        while let Signal::Reopen = self.next().await {}
    }
}
