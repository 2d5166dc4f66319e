//! `annals serve`: the repository over HTTP.

use std::io::Write;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::time::Duration;

use annals::{Error, ErrorKind, Options, Result, TypeKind};
use annals_exchange::text::{count, counted, one_line};
use annals_logs::Place;
use annals_server::{
    AccessSettings, Host, LdpRoot, LdpSettings, Limits, LogSettings, OidcSettings, Origin, PublicUrl,
    Settings, SourcePrefix, Sources, TlsSettings, WebAc, WebIdPrefix, check_name, serve,
};
use rustix::fs::Mode;
use rustix::process::umask;

use crate::context::Global;

/// Serve a repository over HTTP.
///
/// Prints a line with the folder and the address once it listens, another when the repository is open, and runs until SIGTERM or SIGINT; then it finishes the requests
/// in flight and closes the repository. `/health/ready` answers 503 until the repository is open.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:
  annals serve library
  annals serve library --create                           # if it is not there yet
  annals serve library --tokens annals-tokens             # see annals token
  annals serve library --listen 10.0.0.7:8280 --behind-proxy 10.0.0.1 --host annals.example
  annals serve library --memory 1.5GiB
  annals serve --config /etc/annals.toml --check-config   # is the file right?
  annals serve library --log-format json --log-file annals.log
  annals serve library --read-only --listen 127.0.0.1:0   # beside the writer, on any free port
  annals serve postgres://annals@db/library --standby     # one of several servers; see docs/operations.md
  annals serve s3://library/annals --standby
  curl http://127.0.0.1:8280/openapi.json")]
pub struct Serve {
    /// Folder of the repository, or the URL of its log, instead of --repository.
    #[arg(value_name = "REPOSITORY")]
    pub folder: Option<PathBuf>,
    /// Create the repository if there is none.
    #[arg(long = "create", conflicts_with = "read_only")]
    pub is_creating: bool,
    /// Of a log in a store: follow the server that writes, and take over when it gives no sign of life for 3 seconds. Without
    /// the option a server takes over when it starts, and does not start beside one that writes.
    #[arg(long = "standby", conflicts_with = "read_only")]
    pub is_standby: bool,
    /// Of a log in a store: a folder of this machine for checkpoints, so that the next start reads only the records after the
    /// latest one, instead of those in --objects. Each server has its own.
    #[arg(long, value_name = "FOLDER")]
    pub cache: Option<PathBuf>,
    /// Of a log in a store: the address of this server, which the others tell to clients that want to write, and to commands,
    /// while this one writes [default: that of --public-url, or the one it listens at].
    #[arg(long, value_name = "URL")]
    pub address: Option<Origin>,
    /// Refuse writes without the header Annals-Author, which a proxy that knows its users can set.
    #[arg(long = "require-author")]
    pub is_author_required: bool,
    /// Address to listen at; port 0 for any free one. An address that other machines can reach needs TLS, or a proxy, and
    /// credentials.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8280", value_parser = listened)]
    pub listen: SocketAddr,
    /// Take only clients whose tokens this file has, as `annals token` writes it. SIGHUP reads it again.
    #[arg(long, value_name = "FILE", env = "ANNALS_TOKENS", help_heading = "Access")]
    pub tokens: Option<PathBuf>,
    /// Serve TLS with the certificates of this file, in PEM: that of the server first. SIGHUP reads it again.
    #[arg(long = "tls-cert", value_name = "FILE", requires = "tls_key", help_heading = "Access")]
    pub tls_certificate: Option<PathBuf>,
    /// The private key of the certificate, in PEM.
    #[arg(long, value_name = "FILE", requires = "tls_certificate", help_heading = "Access")]
    pub tls_key: Option<PathBuf>,
    /// Take clients with a certificate that one of the authorities in this file signed, in PEM. The name is the first DNS
    /// name or URI of the certificate.
    #[arg(
        long = "tls-client-ca",
        value_name = "FILE",
        requires = "tls_certificate",
        help_heading = "Access"
    )]
    pub tls_client_authorities: Option<PathBuf>,
    /// Take clients whose tokens (JWT) this OIDC provider signed: the value of their claim `iss`.
    #[arg(long, value_name = "URL", requires = "oidc_audiences", help_heading = "Access")]
    pub oidc_issuer: Option<String>,
    /// A name of this server, which the claim `aud` of these tokens must have; repeatable: one of them.
    #[arg(long = "oidc-audience", value_name = "NAME", requires = "oidc_issuer", help_heading = "Access")]
    pub oidc_audiences: Vec<String>,
    /// The keys of the provider (JWKS): a file, or an http or https URL; if left out, those that the issuer names in
    /// `/.well-known/openid-configuration`.
    #[arg(long, value_name = "FILE|URL", requires = "oidc_issuer", help_heading = "Access")]
    pub oidc_keys: Option<String>,
    /// Certificates of authorities for the issuer and that URL, in PEM, instead of those of the system.
    #[arg(long = "oidc-ca", value_name = "FILE", requires = "oidc_issuer", help_heading = "Access")]
    pub oidc_authorities: Option<PathBuf>,
    /// The claim with the name of the client, which becomes the author.
    #[arg(long, value_name = "CLAIM", default_value = "sub", help_heading = "Access")]
    pub oidc_name_claim: String,
    /// The claim with roles or groups: a text or an array; dots lead into objects, as in realm_access.roles.
    #[arg(long, value_name = "CLAIM", default_value = "roles", help_heading = "Access")]
    pub oidc_roles_claim: String,
    /// A client whose claim has this value has this role; repeatable. The value * is any: `*=read`.
    #[arg(long = "oidc-role", value_name = "VALUE=ROLE", value_parser = claim_role, help_heading = "Access")]
    pub oidc_roles: Vec<(String, String)>,
    /// A proxy at this address proves users, and names each in the header Annals-Author. The server takes that header as
    /// proof from no other address.
    #[arg(long, value_name = "ADDRESS", help_heading = "Access")]
    pub behind_proxy: Option<IpAddr>,
    /// A role of users whom the proxy names, unless the token file gives them others: admin, operate, read or write;
    /// repeatable.
    #[arg(long = "default-role", value_name = "ROLE", default_value = "write", value_parser = role, help_heading = "Access")]
    pub default_roles: Vec<String>,
    /// Let other machines send requests without TLS: tokens and data pass the network in the clear.
    #[arg(long, help_heading = "Access")]
    pub insecure_plain: bool,
    /// Let clients without credentials do everything.
    #[arg(long, help_heading = "Access")]
    pub insecure_anyone: bool,
    /// Another name or address that requests may call the server by, without port; repeatable. Requests must name
    /// localhost, a loopback address, the address listened at (any address if that is all of them), or one of these.
    #[arg(long = "host", value_name = "NAME")]
    pub hosts: Vec<Host>,
    /// The address by which clients call the server through a proxy, such as `https://repo.example.org`. The LDP door
    /// then writes all addresses below it and takes only those for its own, and requests may use its host.
    #[arg(long, value_name = "URL")]
    pub public_url: Option<PublicUrl>,
    /// Let web pages of this origin (scheme, host and port) read and write; repeatable (CORS).
    #[arg(long = "cors-origin", value_name = "ORIGIN")]
    pub origins: Vec<Origin>,
    /// Serve the LDP door (Linked Data Platform) below this path.
    #[arg(long, value_name = "PATH", default_value = "/ldp")]
    pub ldp_root: LdpRoot,
    /// Do not serve the LDP door.
    #[arg(long, conflicts_with = "ldp_root")]
    pub no_ldp: bool,
    /// Refuse a PUT to the LDP door that replaces a resource without If-Match.
    #[arg(long = "ldp-require-if-match")]
    pub is_if_match_required: bool,
    /// Let the LDP door obey access control lists (Web Access Control): a client whose role does not give what it asks
    /// for gets what the ACL of the resource gives it. Only admins, and clients with acl:Control, write ACLs.
    #[arg(long = "webac", conflicts_with = "no_ldp")]
    pub has_web_access: bool,
    /// The beginning of WebIDs of clients in ACLs, such as `https://people.example/`; the name of a client follows it.
    /// Without the option, ACLs name clients by their names, as text.
    #[arg(long = "webid-prefix", value_name = "PREFIX", requires = "has_web_access")]
    pub web_id_prefix: Option<WebIdPrefix>,
    /// Let binaries of the LDP door have external contents below this address or folder, such as
    /// `http://images.example/public/` or `file:///srv/scans`; repeatable. A host without a port is about every port of it.
    /// Without the option there are none. The server reads there on behalf of every client that can write, and shows the bytes
    /// to every client that can read.
    #[arg(long = "ldp-external", value_name = "PREFIX")]
    pub external_prefixes: Vec<SourcePrefix>,
    /// Of a log in a store: the folders of --ldp-external are the same on the machines of all its servers, such as a network
    /// drive.
    #[arg(long = "ldp-external-shared", requires = "external_prefixes")]
    pub are_folders_shared: bool,
    /// Largest external content.
    #[arg(long = "ldp-external-bytes-max", value_name = "BYTES", default_value_t = 1 << 40)]
    pub external_bytes_max: u64,
    /// Read options from this file as well, in TOML: `listen = "127.0.0.1:8280"`, `host = ["annals.example"]`. The command line
    /// and the environment win over the file.
    #[arg(long, value_name = "FILE", env = "ANNALS_CONFIG")]
    pub config: Option<PathBuf>,
    /// Check options, file and repository folder, say what is wrong, and end without serving.
    #[arg(long)]
    pub check_config: bool,
    /// Write lines of this level and above to the log: off, error, warn, info, debug or trace. A target can have a level of
    /// its own: info,annals::request=off leaves requests out.
    #[arg(long, value_name = "LEVEL", env = "ANNALS_LOG", default_value = "info", help_heading = "Log")]
    pub log: String,
    /// Write the log as text or as JSON, one object a line.
    #[arg(long, value_name = "FORMAT", default_value = "text", help_heading = "Log")]
    pub log_format: LogFormat,
    /// Append the log to this file instead of standard error. SIGHUP opens the file again, for logrotate.
    #[arg(long, value_name = "FILE", help_heading = "Log")]
    pub log_file: Option<PathBuf>,
    /// Warn of requests that take this long, with their search or walk, and of slow syncs of the log.
    #[arg(long, value_name = "MS", default_value_t = millis(Limits::default().slow_time), help_heading = "Log")]
    pub slow_ms: u64,
    /// Follow the process that writes, and refuse writes.
    #[arg(long)]
    pub read_only: bool,
    /// Largest request body.
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().body_bytes_max)]
    pub body_bytes_max: usize,
    /// Bodies of all requests together.
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().bodies_bytes_max)]
    pub bodies_bytes_max: usize,
    /// Total size of answers that wait for their clients; answers of at most 16 KiB do not count.
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().answers_bytes_max)]
    pub answers_bytes_max: usize,
    /// End a page with the item whose stored bytes bring the page over this size.
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().page_bytes_max)]
    pub page_bytes_max: usize,
    /// Largest request head.
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().header_bytes_max)]
    pub header_bytes_max: usize,
    /// Longest time for one request.
    #[arg(long, value_name = "MS", default_value_t = millis(Limits::default().request_time))]
    pub request_time_ms: u64,
    /// Most requests in progress at once, including answers that are being sent.
    #[arg(long, value_name = "COUNT", default_value_t = Limits::default().requests_max)]
    pub requests_max: usize,
    /// Most open connections.
    #[arg(long, value_name = "COUNT", default_value_t = Limits::default().connections_max)]
    pub connections_max: usize,
    /// Most of each kind of room (requests, uploads, imports, slow bodies, answers) that one client may use, by its name if
    /// the server knows it and otherwise by its address, 1 to
    /// 100 percent [default: 50, and 100 for addresses of this machine]. Behind a proxy on another machine, all clients
    /// have one address: use 100, and let the proxy bound them.
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(1..=100))]
    pub client_share: Option<u8>,
    /// Most requests that one client with a name (see Access) begins within a second; any number if left out.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    pub client_rate_max: Option<u32>,
    /// Close a connection if the head of a request does not arrive within this time; for the first request the time
    /// starts with the connection.
    #[arg(long, value_name = "MS", default_value_t = millis(Limits::default().head_time))]
    pub head_time_ms: u64,
    /// Close a connection after this time without traffic.
    #[arg(long, value_name = "MS", default_value_t = millis(Limits::default().idle_time))]
    pub idle_time_ms: u64,
    /// Most searches, walks and differences in progress at once [default: two per core].
    #[arg(long, value_name = "COUNT", default_value_t = Limits::default().heavy_max, hide_default_value = true)]
    pub heavy_max: usize,
    /// Largest page.
    #[arg(long, value_name = "ITEMS", default_value_t = Limits::default().page_max)]
    pub page_max: usize,
    /// Most answers in lines (application/x-ndjson) that are sent at once.
    #[arg(long, value_name = "COUNT", default_value_t = Limits::default().streams_max)]
    pub streams_max: usize,
    /// Most subscribers of the feed.
    #[arg(long, value_name = "COUNT", default_value_t = Limits::default().subscribers_max)]
    pub subscribers_max: usize,
    /// Send a comment on a feed that is quiet for this long.
    #[arg(long, value_name = "MS", default_value_t = millis(Limits::default().heartbeat))]
    pub heartbeat_ms: u64,
    /// Longest time that a request waits for the position it asks for.
    #[arg(long, value_name = "MS", default_value_t = millis(Limits::default().visible_time))]
    pub visible_time_ms: u64,
    /// Longest time for requests in progress to end after a signal.
    #[arg(long, value_name = "MS", default_value_t = millis(Limits::default().stop_time))]
    pub stop_time_ms: u64,
}

/// The form of the lines of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// Lets no other users of the machine read or change the file of the log. The rights of its group are those of the
/// umask.
fn keep_from_others() {
    let before = umask(Mode::RWXU | Mode::RWXG | Mode::RWXO);
    umask(before | Mode::RWXO);
}

fn print(line: &str) {
    let mut output = std::io::stdout().lock();
    // Standard output may be closed; the server serves all the same.
    let _ = writeln!(output, "{line}");
    let _ = output.flush();
}

/// An address to listen at: numbers, or a name of this machine such as `localhost`, whose first IPv4 address counts.
fn listened(text: &str) -> std::result::Result<SocketAddr, String> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let expected = "expected an address and a port, such as 127.0.0.1:8280 or localhost:8280";
    let found: Vec<SocketAddr> =
        text.to_socket_addrs().map_err(|error| format!("{expected}: {error}"))?.collect();
    let first = found.iter().find(|address| address.is_ipv4()).or_else(|| found.first());
    first.copied().ok_or_else(|| format!("{expected}, found a name without an address"))
}

/// The name of a role, built in or not.
fn role(name: &str) -> std::result::Result<String, String> {
    check_name(name).map(|()| name.to_owned()).map_err(|error| error.to_string())
}

/// A value of a claim, and the role that it gives.
fn claim_role(text: &str) -> std::result::Result<(String, String), String> {
    let (value, name) = text.rsplit_once('=').ok_or("expected a value and a role, such as editors=write")?;
    Ok((value.to_owned(), role(name)?))
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl Serve {
    /// Serves until a signal says stop.
    pub fn run(&self, global: &Global) -> Result<()> {
        let limits = self.limits();
        let place = self.place(global)?;
        let is_new = place.is_vacant()?;
        if is_new && !self.is_creating {
            let text = format!(
                "{place}: expected a repository, found none; correct the name, or create one with --create"
            );
            return Err(Error::new(ErrorKind::NotFound, text));
        }
        let log = LogSettings {
            filter: self.log.clone(),
            is_json: self.log_format == LogFormat::Json,
            file: self.log_file.clone(),
        };
        keep_from_others();
        log.check()?;
        let access = self.access();
        access.check(self.listen)?;
        if self.check_config {
            access.check_files()?;
            print(&format!("the configuration is good; the repository is {place}"));
            return Ok(());
        }
        let options = Options {
            is_read_only: self.read_only,
            is_standby: self.is_standby,
            memory_bytes_max: global.memory_bytes_max,
            ..Options::default()
        };
        let name = one_line(&place.to_string());
        let (verb, past) = if is_new { ("creates", "created") } else { ("opens", "opened") };
        let hosts = self.hosts.clone();
        let origins = self.origins.clone();
        let is_if_match_required = self.is_if_match_required;
        let external = Sources::new(self.external_prefixes.clone(), self.external_bytes_max);
        let root = self.ldp_root.clone();
        let web_access = self.has_web_access.then(|| WebAc { prefix: self.web_id_prefix.clone() });
        let ldp = (!self.no_ldp).then(|| LdpSettings { root, is_if_match_required, external, web_access });
        let public_url = self.public_url.clone();
        let settings = Settings {
            place,
            listen: self.listen,
            hosts,
            origins,
            public_url,
            address: self.address.clone(),
            ldp,
            access,
            log,
            options,
            limits,
        };
        let scheme = if settings.access.tls.is_some() { "https" } else { "http" };
        serve(
            settings,
            |address| print(&format!("annals {verb} {name} and listens on {scheme}://{address}")),
            |repository| {
                let snapshot = repository.snapshot();
                let number = |kind| -> u64 {
                    let counts = snapshot.counts(kind).unwrap_or_default();
                    counts.iter().map(|(_, count)| count).sum()
                };
                print(&format!(
                    "annals {past} {name} at position {}: {}, {}, {}",
                    count(snapshot.position().0),
                    counted(number(TypeKind::Entity), "entity"),
                    counted(number(TypeKind::Relationship), "relationship"),
                    counted(snapshot.types().len() as u64, "type")
                ));
            },
        )
    }

    /// The place of the repository.
    ///
    /// Errors: `InvalidArgument` for one that does not fit the other options.
    fn place(&self, global: &Global) -> Result<Place> {
        let repository = self.folder.as_ref().unwrap_or(&global.repository).clone();
        let place = Global { repository, ..global.clone() }.place()?.with_cache(self.cache.clone())?;
        let text = match place {
            Place::Folder(_) if self.is_standby || self.address.is_some() => {
                "options standby and address: expected a log in a store beside them, found a folder; leave them out, or follow \
                 the folder with --read-only"
            }
            Place::Log(_)
                if !self.are_folders_shared
                    && self.external_prefixes.iter().any(|prefix| prefix.folder().is_some()) =>
            {
                "option ldp-external: expected an address beside a log in a store, found a folder of this machine, which other \
                 servers of the log do not have; if all of them have it at the same place, add --ldp-external-shared"
            }
            place => return Ok(place),
        };
        Err(Error::new(ErrorKind::InvalidArgument, text))
    }

    fn oidc(&self) -> Option<OidcSettings> {
        Some(OidcSettings {
            issuer: self.oidc_issuer.clone()?,
            audiences: self.oidc_audiences.clone(),
            keys: self.oidc_keys.clone(),
            authorities: self.oidc_authorities.clone(),
            name_claim: self.oidc_name_claim.clone(),
            roles_claim: self.oidc_roles_claim.clone(),
            roles: self.oidc_roles.clone(),
        })
    }

    fn tls(&self) -> Option<TlsSettings> {
        let (certificate, key) = (self.tls_certificate.clone()?, self.tls_key.clone()?);
        Some(TlsSettings { certificate, key, client_authorities: self.tls_client_authorities.clone() })
    }

    fn access(&self) -> AccessSettings {
        AccessSettings {
            tokens: self.tokens.clone(),
            tls: self.tls(),
            oidc: self.oidc(),
            proxy: self.behind_proxy,
            default_roles: self.default_roles.clone(),
            is_plain_allowed: self.insecure_plain,
            is_anyone_allowed: self.insecure_anyone,
        }
    }

    fn limits(&self) -> Limits {
        Limits {
            body_bytes_max: self.body_bytes_max,
            bodies_bytes_max: self.bodies_bytes_max,
            answers_bytes_max: self.answers_bytes_max.max(1),
            page_bytes_max: self.page_bytes_max,
            header_bytes_max: self.header_bytes_max,
            request_time: Duration::from_millis(self.request_time_ms),
            requests_max: self.requests_max,
            connections_max: self.connections_max,
            head_time: Duration::from_millis(self.head_time_ms),
            idle_time: Duration::from_millis(self.idle_time_ms),
            slow_time: Duration::from_millis(self.slow_ms),
            heavy_max: self.heavy_max.max(1),
            page_max: self.page_max.max(1),
            streams_max: self.streams_max.min(annals_server::STREAMS_MAX),
            subscribers_max: self.subscribers_max,
            heartbeat: Duration::from_millis(self.heartbeat_ms),
            visible_time: Duration::from_millis(self.visible_time_ms),
            stop_time: Duration::from_millis(self.stop_time_ms),
            client_share: self.client_share,
            client_rate_max: self.client_rate_max,
            is_author_required: self.is_author_required,
        }
    }
}
