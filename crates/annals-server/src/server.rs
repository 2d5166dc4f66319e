//! Listens, serves connections, and stops without losing anything acknowledged.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use annals::{Error, ErrorKind, Options, Repository, Result};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::connection::{Activity, check_clock, refuse, serve_connection};
use super::door::Door;
use super::hosts::{Host, Hosts};
use super::limits::{IMPORTS_MAX, Limits};
use super::open_connections::OpenConnections;
use super::problem::Problem;
use super::router::Router;

/// What to serve, and where.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Folder of the repository.
    pub folder: PathBuf,
    /// Address to listen at; port 0 for any free one.
    pub listen: SocketAddr,
    /// What it may be called, beside localhost and the address it listens at.
    pub hosts: Vec<Host>,
    /// How the repository is opened.
    pub options: Options,
    /// Bounds.
    pub limits: Limits,
}

/// Serves a repository until a signal (SIGTERM or SIGINT) says stop. `on_listen` is told the address,
/// `on_open` the repository once it is open.
///
/// Errors: those of opening the repository; `Io` if the address cannot be listened at.
pub fn serve(
    settings: Settings,
    on_listen: impl FnOnce(SocketAddr),
    on_open: impl FnMut(&Repository),
) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(settings.limits.heavy_max + settings.limits.streams_max + IMPORTS_MAX + 4)
        .thread_name("annals-http")
        // Requests whose commit is done come from elsewhere; they are answered before new ones are begun, so that little is in
        // hand at any time and fits a core's cache.
        .global_queue_interval(1)
        .build()
        .map_err(|source| Error::io("start the runtime", source))?;
    let result = runtime.block_on(run(settings, on_listen, on_open));
    // Work whose client has gone may still run; it reads only.
    runtime.shutdown_timeout(Duration::from_secs(1));
    result
}

async fn run(
    settings: Settings,
    on_listen: impl FnOnce(SocketAddr),
    mut on_open: impl FnMut(&Repository),
) -> Result<()> {
    let listener = TcpListener::bind(settings.listen)
        .await
        .map_err(|source| Error::io("listen", source).with("address", settings.listen))?;
    let address = listener.local_addr().map_err(|source| Error::io("ask for the address", source))?;
    let name = settings.folder.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = percent_encoding::utf8_percent_encode(&name.unwrap_or_default(), percent_encoding::NON_ALPHANUMERIC)
        .to_string();
    let hosts = Hosts::new(address.ip(), settings.hosts.clone());
    let door = Arc::new(Door::new(settings.limits.clone(), hosts, format!("urn:annals:{name}")));
    let mut signals = Signals::new()?;
    on_listen(address);
    let mut opened = open(&door, &settings)?;
    let mut connections = JoinSet::new();
    let mut accepting = Box::pin(accept(Arc::clone(&door), &listener, &mut connections));
    let mut is_opening = true;
    let result = loop {
        tokio::select! {
            () = &mut accepting => unreachable!("it accepts for ever"),
            () = signals.next() => break Ok(()),
            outcome = &mut opened, if is_opening => {
                is_opening = false;
                if let Err(error) = admit(&door, outcome, &mut on_open) {
                    break Err(error);
                }
            }
        }
    };
    drop(accepting);
    drop(listener);
    stop(&door, connections, &mut signals).await;
    result.and(close(&door).await)
}

/// Opens the repository on a thread of its own, telling the door how far it is.
fn open(door: &Arc<Door>, settings: &Settings) -> Result<oneshot::Receiver<Result<Repository>>> {
    let (done, opened) = oneshot::channel();
    let progress = Arc::clone(door);
    let folder = settings.folder.clone();
    let options = Options {
        on_replay: Some(Arc::new(move |replayed, records| {
            progress.replayed.0.store(replayed.0, Ordering::Relaxed);
            progress.replayed.1.store(records.0, Ordering::Relaxed);
        })),
        ..settings.options.clone()
    };
    std::thread::Builder::new()
        .name("annals-open".into())
        .spawn(move || {
            let _ = done.send(Repository::open_with(folder, options));
        })
        .map_err(|source| Error::io("start the thread annals-open", source))?;
    Ok(opened)
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
        eprintln!("warning: {warning}");
    }
    on_open(&repository);
    door.open(repository).map_err(|source| Error::io("start the thread annals-herald", source))
}

/// Accepts connections for ever, a bounded number at once.
async fn accept(door: Arc<Door>, listener: &TcpListener, connections: &mut JoinSet<()>) {
    // Pause after a failed accept: out of file handles, most likely, and trying at once would only burn time.
    const PAUSE: Duration = Duration::from_millis(50);
    // A connection that is asked to make room does so at once, unless its thread is busy.
    const ROOM_TIME: Duration = Duration::from_millis(100);
    let router = Arc::new(Router::new(Arc::clone(&door)));
    let mut open = OpenConnections::default();
    loop {
        while connections.try_join_next().is_some() {}
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        if let Err(problem) = check_clock(SystemTime::now()) {
            refuse(&stream, &problem);
            continue;
        }
        let mut permit = Arc::clone(&door.gates.connections).try_acquire_owned().ok();
        if permit.is_none() && open.close_idlest() {
            let next = Arc::clone(&door.gates.connections).acquire_owned();
            permit = tokio::time::timeout(ROOM_TIME, next).await.ok().and_then(std::result::Result::ok);
        }
        let Some(permit) = permit else {
            refuse(&stream, &Problem::busy("too many connections; try again later"));
            continue;
        };
        let (door, router) = (Arc::clone(&door), Arc::clone(&router));
        let activity = open.add(door.limits.connections_max);
        connections.spawn(async move {
            let _permit = permit;
            serve_stream(door, router, stream, activity).await;
        });
    }
}

async fn serve_stream(door: Arc<Door>, router: Arc<Router>, stream: TcpStream, activity: Arc<Activity>) {
    // Answers are small and whole: waiting to fill packets only adds latency.
    let _ = stream.set_nodelay(true);
    door.metrics.connections.add(1);
    serve_connection(&door, router, stream, activity).await;
    door.metrics.connections.add(-1);
}

/// Lets requests in flight end, within the bound or until a second signal.
async fn stop(door: &Arc<Door>, mut connections: JoinSet<()>, signals: &mut Signals) {
    door.stop();
    let ended = async { while connections.join_next().await.is_some() {} };
    tokio::select! {
        _ = tokio::time::timeout(door.limits.stop_time, ended) => {}
        () = signals.next() => {}
    }
    connections.abort_all();
}

/// Ends leases, commits what was submitted and closes the repository.
async fn close(door: &Arc<Door>) -> Result<()> {
    let Some(repository) = door.opened().cloned() else { return Ok(()) };
    let door = Arc::clone(door);
    let close = move || {
        door.end_leases();
        repository.close()
    };
    tokio::task::spawn_blocking(close).await.expect("closing does not panic")
}

/// SIGTERM and SIGINT.
struct Signals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

impl Signals {
    fn new() -> Result<Signals> {
        Ok(Signals {
            #[cfg(unix)]
            terminate: tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())
                .map_err(|source| Error::io("listen for signals", source))?,
        })
    }

    async fn next(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = tokio::signal::ctrl_c() => {}
        }
        #[cfg(not(unix))]
        let _ = tokio::signal::ctrl_c().await;
    }
}
