//! Whether the unit starts the program that is there, as a user that is there, and leaves room for the options.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::finding::Findings;
use super::patient::Patient;
use super::unit::{UnitFile, time};

/// The server takes so long to stop beside the time for its requests, for a checkpoint. Units: milliseconds.
const CHECKPOINT_TIME_MS: u64 = 5_000;
/// The command that changes a unit.
const EDIT: &str = "systemctl edit annals";

/// Looks at the program, the user, and the fences.
pub fn examine(unit: &UnitFile, patient: &Patient, findings: &mut Findings) {
    examine_start(unit, patient, findings);
    examine_user(unit, findings);
    examine_fences(unit, patient, findings);
    if let Some(time) = unit.value("TimeoutStopSec").and_then(time)
        && time < Duration::from_millis(patient.options.stop_time_ms + CHECKPOINT_TIME_MS)
    {
        let needed = (patient.options.stop_time_ms + CHECKPOINT_TIME_MS).div_ceil(1_000);
        let text = format!(
            "{}: TimeoutStopSec: expected at least {needed} s, which are stop-time-ms and a checkpoint, found {} s",
            unit.path.display(),
            time.as_secs()
        );
        findings.warning("unit", text, format!("set it with {EDIT}, or lower stop-time-ms"));
    }
    if findings.is_well("unit") {
        findings.ok("unit", unit.path.display().to_string());
    }
}

fn examine_start(unit: &UnitFile, patient: &Patient, findings: &mut Findings) {
    let words = unit.words("ExecStart");
    let Some(program) = words.first().map(|word| word.trim_start_matches(['-', '@', ':', '+', '!'])) else {
        let text = format!("{}: expected ExecStart, found none", unit.path.display());
        return findings.wrong("unit", text, "install the unit of the package again");
    };
    let known = std::fs::metadata(program);
    if !known.is_ok_and(|known| known.is_file() && known.permissions().mode() & 0o111 != 0) {
        let text = format!("ExecStart: expected a program, found none at {program}");
        findings.wrong("unit", text, format!("install annals there, or name it with {EDIT}"));
    }
    let named = words.iter().skip_while(|word| **word != "--config").nth(1);
    if let (Some(named), Some(config)) = (named, &patient.options.config)
        && Path::new(named) != config
    {
        let text = format!("the unit reads {named}, not {}", config.display());
        findings.warning("unit", text, format!("ask again with --config {named}"));
    }
}

fn examine_user(unit: &UnitFile, findings: &mut Findings) {
    match unit.value("User") {
        None | Some("root" | "0") => {
            findings.warning("unit", "the server runs as root", format!("set User=annals with {EDIT}"));
        }
        Some(name) if unit.account().is_none() => {
            let make =
                format!("useradd --system --home-dir /var/lib/annals --shell /usr/sbin/nologin {name}");
            findings.wrong("unit", format!("user {name}: there is none"), make);
        }
        Some(_) => {}
    }
}

fn examine_fences(unit: &UnitFile, patient: &Patient, findings: &mut Findings) {
    if let Some(folder) = patient.folder.as_deref().filter(|_| !patient.options.is_read_only) {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let states = unit.words("StateDirectory").into_iter();
        let mut open: Vec<PathBuf> = states.map(|name| Path::new("/var/lib").join(name)).collect();
        open.extend(
            unit.words("ReadWritePaths").into_iter().map(|path| path.trim_start_matches(['-', '+']).into()),
        );
        let is_strict = unit.value("ProtectSystem") == Some("strict");
        let hides_homes = matches!(unit.value("ProtectHome"), Some("yes" | "true" | "tmpfs"));
        let is_home = ["/home", "/root", "/run/user"].iter().any(|home| folder.starts_with(home));
        if hides_homes && is_home {
            let text = format!("ProtectHome hides {}", folder.display());
            findings.wrong("unit", text, "keep the repository below /var/lib or /srv");
        } else if is_strict && !open.iter().any(|open| folder.starts_with(open)) {
            let text = format!("ProtectSystem=strict: the server cannot write to {}", folder.display());
            findings.wrong("unit", text, format!("add ReadWritePaths={} with {EDIT}", folder.display()));
        }
    }
    let Some(listen) = patient.options.listen else { return };
    let is_near =
        |word: &&str| matches!(*word, "localhost" | "127.0.0.0/8" | "127.0.0.1" | "::1" | "::1/128");
    let denies = unit.words("IPAddressDeny").contains(&"any");
    if denies && !listen.ip().is_loopback() && unit.words("IPAddressAllow").iter().all(is_near) {
        let text = format!("IPAddressAllow: only this machine reaches {listen}");
        findings.wrong(
            "unit",
            text,
            format!("add IPAddressAllow= with the addresses of clients with {EDIT}"),
        );
    }
    if listen.port() != 0 && listen.port() < 1_024 && unit.account() != Some(0) {
        let may = [unit.value("AmbientCapabilities"), unit.value("CapabilityBoundingSet")];
        if !may.iter().all(|words| words.is_some_and(|words| words.contains("CAP_NET_BIND_SERVICE"))) {
            let text = format!("the user of the unit may not listen at port {}", listen.port());
            findings.wrong("unit", text, "listen at 8280, behind a proxy: nginx.conf of the package");
        }
    }
}
