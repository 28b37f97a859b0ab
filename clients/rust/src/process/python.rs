//! Why no tried Python can run the sidecar, and what to do about it, for the reader of the
//! host's error message.

use std::{
    ffi::OsString,
    io::Read,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::{
    error::{NEEDED, PythonProblem},
    process::locate::CommandLine,
};

/// How long a Python may take to print its version.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(5);
/// `-E`, because an old Python has no other option to ignore `PYTHONPATH`.
const ASK_VERSION: [&str; 3] = ["-E", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"];

/// The problem with the interpreters among these commands; `None` if no command has one.
pub(crate) fn problem(commands: &[CommandLine]) -> Option<PythonProblem> {
    let mut interpreters: Vec<_> = commands.iter().filter_map(asking).collect();
    if interpreters.is_empty() && !commands.is_empty() {
        return None;
    }
    interpreters.dedup_by(|one, other| one.words == other.words);
    let found: Vec<_> = interpreters.iter().filter_map(asked).collect();
    let fit = found.iter().find(|(version, _)| is_enough(version)).cloned();
    Some(match (fit, found.into_iter().next()) {
        (Some((version, path)), _) => PythonProblem::NoPackage { version, path },
        (None, Some((version, path))) => PythonProblem::TooOld { version, path },
        (None, None) => PythonProblem::Missing,
    })
}

/// The command that asks the interpreter of `command` for its version, in the same directory;
/// `None` if `command` has no interpreter.
fn asking(command: &CommandLine) -> Option<CommandLine> {
    let pairs = command.words.windows(2);
    let module =
        pairs.into_iter().position(|pair| pair[0] == "-m" && pair[1] == "stream_sidecar")?;
    let words = command.words[..module].iter().filter(|it| *it != "-I" && *it != "-P").cloned();
    let words = words.chain(ASK_VERSION.map(OsString::from)).collect();
    Some(CommandLine { words, ..command.clone() })
}

fn asked(command: &CommandLine) -> Option<(String, String)> {
    let path = command.words.first()?.to_string_lossy().into_owned();
    let version = said(&mut command.to_command())?.trim().to_owned();
    (!version.is_empty()).then_some((version, path))
}

/// The short output of a command; `None` if it fails, or hangs and is killed.
fn said(command: &mut Command) -> Option<String> {
    let quiet = command.stdin(Stdio::null()).stderr(Stdio::null());
    let mut process = quiet.stdout(Stdio::piped()).spawn().ok()?;
    let since = Instant::now();
    let status = loop {
        match process.try_wait().ok()? {
            Some(status) => break status,
            None if since.elapsed() < PATIENCE => thread::sleep(PAUSE),
            None => {
                let _ = process.kill();
                break process.wait().ok()?;
            }
        }
    };
    let mut text = String::new();
    process.stdout?.read_to_string(&mut text).ok()?;
    status.success().then_some(text)
}

fn is_enough(version: &str) -> bool {
    let mut numbers = version.split('.').map(|it| it.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= NEEDED
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::locate;

    #[test]
    fn a_missing_python_is_reported() {
        let command = |text: &str| CommandLine {
            words: text.split(' ').map(OsString::from).collect(),
            ..CommandLine::default()
        };
        assert_eq!(problem(&[]), Some(PythonProblem::Missing));
        assert_eq!(problem(&[command("uvx stream-sidecar")]), None);
        assert_eq!(
            problem(&[command("/does/not/exist -P -m stream_sidecar")]),
            Some(PythonProblem::Missing)
        );
        assert!(is_enough("3.11") && is_enough("4.0") && !is_enough("3.10") && !is_enough("2.7"));
    }

    #[cfg(unix)]
    #[test]
    fn an_old_python_and_a_missing_package_are_reported() {
        use std::{env, fs, os::unix::fs::PermissionsExt};
        let path = env::temp_dir().join(format!("sidecar-python-{}", std::process::id()));
        for (version, is_old) in [("3.10", true), ("3.13", false)] {
            fs::write(&path, format!("#!/bin/sh\n[ \"$1\" = -E ] && echo {version}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            let served = locate::serving(&[path.clone().into_os_string()]);
            let commands = served.map(|words| CommandLine { words, ..CommandLine::default() });
            let found = problem(&commands).expect("it is a Python");
            assert_eq!(matches!(found, PythonProblem::TooOld { .. }), is_old, "{found}");
            assert!(found.to_string().contains(&format!("{version} at {}", path.display())));
        }
        fs::remove_file(&path).unwrap();
    }
}
