//! Why no Python that was tried has the sidecar, and the way out, in words for whoever
//! reads the host's error message.

use std::{
    ffi::OsString,
    fmt,
    io::Read,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

const NEEDED: (u32, u32) = (3, 11);
/// How long a Python may take to say its version.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(5);
const ASK_VERSION: &str = "import sys; print('%d.%d' % sys.version_info[:2])";

/// What is wrong with the Pythons that were tried.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PythonProblem {
    /// There is none.
    Missing,
    /// The one that there is, is older than 3.11.
    TooOld {
        /// "3.10".
        version: String,
        /// Where it is.
        path: String,
    },
    /// It is new enough, and cannot run the package.
    NoPackage {
        /// "3.13".
        version: String,
        /// Where it is.
        path: String,
    },
}

impl fmt::Display for PythonProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor) = NEEDED;
        let name_it =
            "or name a sidecar that brings its own with Builder::command or STREAM_SIDECAR";
        match self {
            Self::Missing => {
                write!(
                    formatter,
                    "Python {major}.{minor} or newer is needed, and none was found; {name_it}"
                )
            }
            Self::TooOld { version, path } => write!(
                formatter,
                "Python {major}.{minor} or newer is needed, found {version} at {path}; {name_it}"
            ),
            Self::NoPackage { version, path } => write!(
                formatter,
                "Python {version} at {path} cannot run stream-sidecar; install the package there, or name another with Builder::command"
            ),
        }
    }
}

/// What is wrong with the interpreters among these commands; `None`: something else is.
pub(crate) fn problem(commands: &[Vec<OsString>]) -> Option<PythonProblem> {
    let interpreters: Vec<_> = commands.iter().filter_map(|words| interpreter(words)).collect();
    if interpreters.is_empty() && !commands.is_empty() {
        return None;
    }
    let found: Vec<_> = interpreters.into_iter().filter_map(asked).collect();
    let fit = found.iter().find(|(version, _)| is_enough(version)).cloned();
    Some(match (fit, found.into_iter().next()) {
        (Some((version, path)), _) => PythonProblem::NoPackage { version, path },
        (None, Some((version, path))) => PythonProblem::TooOld { version, path },
        (None, None) => PythonProblem::Missing,
    })
}

/// The words before `-m stream_sidecar`.
fn interpreter(words: &[OsString]) -> Option<&[OsString]> {
    let module =
        words.windows(2).position(|pair| pair[0] == "-m" && pair[1] == "stream_sidecar")?;
    Some(&words[..module])
}

fn asked(words: &[OsString]) -> Option<(String, String)> {
    let (path, rest) = words.split_first()?;
    let rest = rest.iter().filter(|word| *word != "-P"); // which an old one does not know
    let mut command = Command::new(path);
    let version = said(command.args(rest).args(["-c", ASK_VERSION]))?.trim().to_owned();
    (!version.is_empty()).then(|| (version, path.to_string_lossy().into_owned()))
}

/// What a command writes, which is little; `None`: it fails, or hangs and is killed.
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

    #[test]
    fn what_is_missing_is_told() {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert_eq!(problem(&[]), Some(PythonProblem::Missing));
        assert_eq!(problem(&[words("uvx stream-sidecar")]), None);
        assert_eq!(
            problem(&[words("/does/not/exist -P -m stream_sidecar")]),
            Some(PythonProblem::Missing)
        );
        assert!(is_enough("3.11") && is_enough("4.0") && !is_enough("3.10") && !is_enough("2.7"));
    }

    #[cfg(unix)]
    #[test]
    fn what_is_too_old_or_bare_is_told() {
        use std::{env, fs, os::unix::fs::PermissionsExt};
        let path = env::temp_dir().join(format!("sidecar-python-{}", std::process::id()));
        for (version, is_old) in [("3.10", true), ("3.13", false)] {
            fs::write(&path, format!("#!/bin/sh\n[ \"$1\" = -c ] && echo {version}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            let words = vec![
                path.clone().into_os_string(),
                "-P".into(),
                "-m".into(),
                "stream_sidecar".into(),
            ];
            let told = problem(&[words]).expect("it is a Python");
            assert_eq!(matches!(told, PythonProblem::TooOld { .. }), is_old, "{told}");
            assert!(told.to_string().contains(&format!("{version} at {}", path.display())));
        }
        fs::remove_file(&path).unwrap();
    }
}
