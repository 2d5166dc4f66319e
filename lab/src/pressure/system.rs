//! The servers of the suite, and how each is started.

use std::net::SocketAddr;
use std::path::Path;

use super::dialect::{
    Annals, Dialect, FILE_CONTENT, FILE_NAME, File, Gremlin, Hugegraph, Neo4j, PING, neo4j_ping,
};
use crate::harness::{Cell, PeerServer, TargetRecord, TreeUsage, tree_usage};
use crate::outcome::Outcome;
use crate::run::{Client, Place, Request, Server};

/// A running server, in the words that it understands.
pub struct System {
    pub address: SocketAddr,
    pub dialect: Box<dyn Dialect>,
    /// The server ends with this value: Annals and nginx at once, a peer as its makers intend.
    server: Started,
}

/// A running server, without its words.
pub enum Started {
    /// `annals serve`, or nginx.
    Own(Box<Server>),
    Peer(PeerServer),
}

impl System {
    /// Starts the server of the cell's target, on the files that it has left in `folder` if there are any.
    pub fn start(cell: &Cell, folder: &Path) -> Outcome<System> {
        match cell.target.name {
            "annals" => {
                let server = Server::annals(&folder.join("repository"))?;
                Ok(System {
                    address: server.address,
                    dialect: Box::new(Annals),
                    server: Started::Own(Box::new(server)),
                })
            }
            "nginx" => System::nginx(folder),
            "janusgraph-http" => {
                System::peer(cell, folder, Box::new(Gremlin), &Request::json("POST", "/", PING))
            }
            "neo4j-http" => System::peer(cell, folder, Box::new(Neo4j), &neo4j_ping()),
            name => {
                let dialect = match name.strip_prefix("hugegraph") {
                    Some("-cassandra") => Hugegraph::PLAIN,
                    Some(_) => Hugegraph::SPACES,
                    None => return Err(format!("target {name}: the suite does not know its words").into()),
                };
                let labels = format!("{}/schema/vertexlabels", dialect.graph);
                System::peer(cell, folder, Box::new(dialect), &Request::json("GET", &labels, ""))
            }
        }
    }

    /// A peer, as soon as it answers `ping` with success.
    fn peer(cell: &Cell, folder: &Path, dialect: Box<dyn Dialect>, ping: &Request) -> Outcome<System> {
        let mut server = PeerServer::start_in(cell, &folder.join("data"))?;
        let address = server.answer(|port| {
            let address = SocketAddr::from(([127, 0, 0, 1], port));
            Client::new(&Place::at(address)).send(ping)?;
            Ok(address)
        })?;
        Ok(System { address, dialect, server: Started::Peer(server) })
    }

    /// nginx with the one file.
    pub fn nginx(folder: &Path) -> Outcome<System> {
        let folder = folder.join("nginx");
        std::fs::create_dir_all(&folder)?;
        let server = Server::nginx(&folder, FILE_NAME, FILE_CONTENT.as_bytes())?;
        Ok(System {
            address: server.address,
            dialect: Box::new(File),
            server: Started::Own(Box::new(server)),
        })
    }

    /// A client of one connection, for what is not measured.
    pub fn client(&self) -> Client {
        Client::new(&Place::at(self.address))
    }

    /// Its words, and the server, which ends when that is dropped.
    pub fn apart(self) -> (Box<dyn Dialect>, Started) {
        (self.dialect, self.server)
    }

    /// Processor time and memory of the server, with all its processes.
    pub fn usage(&mut self) -> TreeUsage {
        tree_usage(match &mut self.server {
            Started::Own(server) => server.id(),
            Started::Peer(server) => server.id(),
        })
    }
}

/// The words in which a target introduces itself.
pub fn introduction(name: &str) -> TargetRecord {
    let setting = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    match name {
        "annals" => TargetRecord::of_lab("synced-group"),
        "nginx" => TargetRecord {
            version: version_of("nginx", "-v"),
            durability: "memory".into(),
            settings: vec![setting("content", "one file for all vertices and edges")],
            ..TargetRecord::default()
        },
        "disk" => TargetRecord::of_lab("synced-group"),
        "janusgraph-http" => TargetRecord {
            version: "1.1.0 on BerkeleyDB JE, in its Gremlin Server".into(),
            durability: "synced-group".into(),
            settings: vec![
                setting("graph.set-vertex-id", "true"),
                setting("gremlinPool", "4"),
                setting("maxWorkQueueSize", "1024"),
            ],
            ..TargetRecord::default()
        },
        "neo4j-http" => TargetRecord {
            durability: "synced-group".into(),
            settings: vec![setting("edition", "community"), setting("door", "Query API")],
            ..TargetRecord::default()
        },
        "hugegraph-cassandra" => TargetRecord {
            version: "1.5.0 on Cassandra 5.0.9, one node".into(),
            durability: "unsynced".into(),
            settings: vec![setting("backend", "cassandra"), setting("restserver.max_worker_threads", "600")],
            ..TargetRecord::default()
        },
        name => TargetRecord {
            version: "1.7.0 on RocksDB".into(),
            durability: "unsynced".into(),
            settings: match name {
                "hugegraph-tuned" => vec![setting("restserver.max_worker_threads", "600")],
                _ => Vec::new(),
            },
            ..TargetRecord::default()
        },
    }
}

/// The version that a program tells at this option, on either output.
fn version_of(program: &str, option: &str) -> String {
    let output = std::process::Command::new(program).arg(option).output();
    let text = output.map(|output| [output.stdout, output.stderr].concat()).unwrap_or_default();
    let text = String::from_utf8_lossy(&text).lines().next().unwrap_or_default().to_owned();
    text.rsplit('/').next().unwrap_or_default().to_owned()
}
