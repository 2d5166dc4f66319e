//! `annals doctor`: what is wrong with a repository, its server and its machine, and what to do.

use std::path::{Path, PathBuf};

use annals_exchange::text::{counted, one_line};
use annals_logs::Place;
use clap::Args;
use serde_json::json;

use super::serve::Serve;
use crate::context::{Context, Global};
use crate::doctor::{Findings, Level, Patient, ServerOptions, UnitFile, examine};
use crate::stop::{FAILED, Outcome, Stop};

/// Say what is wrong with a repository, its server and its machine, and what to do
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals doctor -r library
  annals doctor --config /etc/annals/annals.toml     # the server of the package; as root, or as its user
  annals --json doctor | jq 'select(.level != \"ok\")'
It looks at unit, rights, versions, port, disk and the time of a sync, memory, open files and clock. It opens no repository,
and writes nothing but a probe file beside it, which it removes.
Exit code 1 if anything is wrong; warnings alone are 0.")]
pub struct Arguments {
    /// The configuration file of the server. The environment is left out, and --repository wins over the file
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The unit that starts the server [default: annals.service of this machine, beside --config]
    #[arg(long, value_name = "FILE")]
    unit: Option<PathBuf>,
    /// A folder on the disk of the repository for the probe file [default: the folder above it]
    #[arg(long, value_name = "FOLDER")]
    probe: Option<PathBuf>,
}

/// Reads the options of a server from a configuration file.
pub type ReadConfig = fn(&Path) -> Result<(Global, Serve), clap::Error>;

/// Looks at everything, and prints a line for each thing.
pub fn run(context: &mut Context, arguments: &Arguments, global: &Global, read: ReadConfig) -> Outcome {
    let mut findings = Findings::default();
    findings.ok("program", concat!("annals ", env!("CARGO_PKG_VERSION")));
    let known = read_options(arguments.config.as_deref(), global, read, &mut findings);
    if let Some((repository, options)) = known {
        examine_repository(&repository, options, arguments, &mut findings)?;
    }
    print(context, &findings)?;
    if findings.count(Level::Wrong) == 0 { Ok(()) } else { Err(Stop::Silent(FAILED)) }
}

fn examine_repository(
    repository: &Path,
    options: ServerOptions,
    arguments: &Arguments,
    findings: &mut Findings,
) -> Outcome {
    let folder = match Place::parse(repository)? {
        Place::Folder(folder) => Some(folder),
        Place::Log(_) => {
            let text = format!("{}: a log in a store", one_line(&repository.to_string_lossy()));
            findings.ok("repository", format!("{text}, which annals storage status looks at"));
            None
        }
    };
    let unit = read_unit(arguments, findings);
    examine(&Patient { folder, options, unit, probe: arguments.probe.clone() }, findings);
    Ok(())
}

fn print(context: &mut Context, findings: &Findings) -> Outcome {
    for finding in &findings.0 {
        if context.output.is_json() {
            let remedy = (!finding.remedy.is_empty()).then_some(&finding.remedy);
            let level = finding.level.name();
            context.output.json(
                &json!({ "about": finding.about, "level": level, "text": finding.text, "remedy": remedy }),
            )?;
            continue;
        }
        let (level, about) = (finding.level.name(), finding.about);
        context.output.line(format!("{level:<8} {about:<13} {}", one_line(&finding.text)))?;
        if !finding.remedy.is_empty() {
            context.output.line(format!("{:<8} {:<13} -> {}", "", "", one_line(&finding.remedy)))?;
        }
    }
    if context.output.is_json() {
        return Ok(());
    }
    let [wrong, warnings] = [Level::Wrong, Level::Warning].map(|level| findings.count(level) as u64);
    context.output.line(match (wrong, warnings) {
        (0, 0) => "all is well".to_owned(),
        (0, _) => counted(warnings, "warning"),
        _ => format!("{} wrong, {}", counted(wrong, "thing"), counted(warnings, "warning")),
    })
}

/// The repository, and the options of its server, as far as they are known. `None` if there is a configuration file that
/// does not read: then nothing is known.
fn read_options(
    config: Option<&Path>,
    global: &Global,
    read: ReadConfig,
    findings: &mut Findings,
) -> Option<(PathBuf, ServerOptions)> {
    let Some(path) = config else {
        let memory_bytes_max = global.memory_bytes_max;
        return Some((
            global.repository.clone(),
            ServerOptions { memory_bytes_max, ..ServerOptions::default() },
        ));
    };
    let (of_file, serve) = match read(path) {
        Ok(told) => told,
        Err(error) => {
            let text = error.to_string();
            let text = text.trim().trim_start_matches("error: ").trim_start_matches("configuration ");
            let text = text.lines().next().unwrap_or_default();
            findings.wrong("configuration", text, "correct the file: docs/http.md has its rules");
            return None;
        }
    };
    let access = serve.access();
    match access.check(serve.listen).and_then(|()| access.check_files()) {
        Ok(()) => findings.ok("configuration", path.display().to_string()),
        Err(error) => {
            let remedy = "docs/security.md; ask as the user of the server";
            findings.wrong("configuration", error.to_string(), remedy);
        }
    }
    let repository = if global.is_repository_named { &global.repository } else { &of_file.repository };
    let options = ServerOptions {
        config: Some(path.to_owned()),
        listen: Some(serve.listen),
        connections_max: Some(serve.connections_max),
        memory_bytes_max: of_file.memory_bytes_max,
        stop_time_ms: serve.stop_time_ms,
        is_read_only: serve.read_only,
    };
    Some((repository.clone(), options))
}

/// The unit that is named, or beside a configuration the one of this machine.
fn read_unit(arguments: &Arguments, findings: &mut Findings) -> Option<UnitFile> {
    let found = || arguments.config.as_ref().and_then(|_| UnitFile::find());
    let Some(path) = arguments.unit.clone().or_else(found) else {
        findings.ok("unit", "none is looked at: --unit names one, and --config looks for annals.service");
        return None;
    };
    match UnitFile::read(&path) {
        Ok(unit) => Some(unit),
        Err(text) => {
            findings.wrong("unit", text, "install the unit of the package, or name another with --unit");
            None
        }
    }
}
