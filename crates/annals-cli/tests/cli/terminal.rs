//! A terminal in which tests run commands.

use std::fs::OpenOptions;
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// The text that a command writes to a terminal of this width, and the exit code. It gets both outputs.
pub fn in_terminal(mut command: Command, columns: u16) -> (String, i32) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let no_control = i32::try_from(OpenptFlags::NOCTTY.bits()).unwrap();
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(no_control);
    let terminal = options.open(name.to_str().unwrap()).unwrap();
    let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(terminal.as_fd(), size).unwrap();
    command.env("TERM", "xterm").env_remove("NO_COLOR").stdin(Stdio::null());
    command.stdout(terminal.try_clone().unwrap()).stderr(terminal);
    let mut child = command.spawn().unwrap();
    // The command keeps copies of the terminal: without this one, reading ends when the process does.
    drop(command);
    let (mut master, mut written) = (std::fs::File::from(master), Vec::new());
    let mut part = [0; 4096];
    // A terminal that nobody has open any more gives an error.
    while let Ok(count @ 1..) = master.read(&mut part) {
        written.extend_from_slice(&part[..count]);
    }
    let code = child.wait().unwrap().code().unwrap_or(-1);
    (String::from_utf8(written).unwrap().replace("\r\n", "\n"), code)
}
