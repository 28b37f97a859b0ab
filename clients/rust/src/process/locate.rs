//! The commands that may start the sidecar, best first.
//!
//! This module only lists commands. Whether a command starts a sidecar is known after it was
//! started.

use std::{
    collections::BTreeMap,
    env,
    ffi::{OsStr, OsString},
    fmt, io, iter,
    path::{Path, PathBuf},
    process::Command,
};

use crate::process::child_place;

/// The environment variable that names the command: a path, or a command line in which words
/// with blanks are quoted.
pub const VARIABLE: &str = "STREAM_SIDECAR";

const PROGRAM: &str = "stream-sidecar";
/// Interpreters that may have the package.
const INTERPRETERS: [(&str, &[&str]); 3] = [("python3", &[]), ("python", &[]), ("py", &["-3"])];
/// Options of an interpreter: first without anything that its user added (`-I`), then with the
/// packages of `PYTHONPATH` and of the home folder (`-P`). Neither option imports from the
/// working directory.
const ALONE: [&str; 2] = ["-I", "-P"];
/// Programs that run a package without installing it. `uvx` has an option to use only its
/// cache; `pipx` has none.
const CACHED: &[(&str, &[&str])] = &[("uvx", &["--offline", PROGRAM])];
const FETCHED: &[(&str, &[&str])] = &[("uvx", &[PROGRAM]), ("pipx", &["run", PROGRAM])];

/// Where a sidecar was found, in the order of the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Way {
    /// `Builder::command` and `Builder::python`, or the environment variable `STREAM_SIDECAR`.
    Host,
    /// The folder `stream-sidecar` beside the running program: an unpacked archive made by
    /// `clients/bundle`, which includes an interpreter.
    Beside,
    /// `stream-sidecar` on `PATH`.
    Path,
    /// Python 3.11 or newer on `PATH` that has the package.
    Python,
    /// `uvx` on `PATH`, from its cache unless downloads are allowed.
    Index,
}

impl Way {
    const ALL: [Self; 5] = [Self::Host, Self::Beside, Self::Path, Self::Python, Self::Index];

    fn title(self) -> &'static str {
        match self {
            Self::Host => "Builder::command and Builder::python, and the variable STREAM_SIDECAR",
            Self::Beside => "the folder stream-sidecar beside the program",
            Self::Path => "stream-sidecar on PATH",
            Self::Python => "Python 3.11 or newer on PATH that has the package",
            Self::Index => "uvx on PATH, from its cache unless downloads are allowed",
        }
    }
}

/// The commands that may start a sidecar, best first; `Display` is for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// Each command line, with where it was found.
    pub ways: Vec<(Way, Vec<OsString>)>,
}

impl Located {
    pub(crate) fn here() -> Self {
        Self { ways: ways_here(false) }
    }
}

impl fmt::Display for Located {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for way in Way::ALL {
            let lines = self.ways.iter().filter(|(each, _)| *each == way);
            let found: Vec<_> = lines.map(|(_, words)| joined(words)).collect();
            let name = format!("{way:?}").to_lowercase();
            if found.is_empty() {
                writeln!(formatter, "{name}: not found ({})", way.title())?;
            } else {
                writeln!(formatter, "{name}: {}", found.join(", or "))?;
            }
        }
        Ok(())
    }
}

/// A program with its arguments, its environment and its directory.
#[derive(Debug, Clone, Default)]
pub(crate) struct CommandLine {
    pub(crate) words: Vec<OsString>,
    pub(crate) environment: BTreeMap<OsString, OsString>,
    /// `None`: the folder of the running program.
    pub(crate) directory: Option<PathBuf>,
    /// The variables inherited from this process; `None`: all. `PYTHONHOME` is never inherited.
    pub(crate) inherited: Option<Vec<OsString>>,
}

impl CommandLine {
    pub(crate) fn to_command(&self) -> Command {
        let mut words = self.words.iter();
        let program = words.next().map_or(OsStr::new(PROGRAM), |it| it);
        let mut command = match &self.directory {
            Some(directory) => in_folder(Command::new(program), directory),
            None => {
                in_folder(Command::new(child_place::from_here(program)), &child_place::own_folder())
            }
        };
        command.args(words);
        if let Some(names) = &self.inherited {
            let values = names.iter().filter_map(|name| Some((name, env::var_os(name)?)));
            command.env_clear().envs(values);
        }
        command.env_remove("PYTHONHOME").envs(&self.environment);
        if let Some(search_path) = self.variable(SEARCH_PATH) {
            command.env(SEARCH_PATH, child_place::absolute_entries(&search_path));
        }
        command
    }

    /// An error if the working directory is missing: the system would report a missing program.
    pub(crate) fn check_directory(&self) -> io::Result<()> {
        match self.directory.as_deref().filter(|it| !it.is_dir()) {
            Some(missing) => {
                let text = format!("current_dir names no folder: {}", missing.display());
                Err(io::Error::new(io::ErrorKind::NotFound, text))
            }
            None => Ok(()),
        }
    }

    /// The value that the process would have for this variable.
    fn variable(&self, name: &str) -> Option<OsString> {
        let is_inherited = self.inherited.as_ref().is_none_or(|it| it.iter().any(|it| it == name));
        let added = self.environment.get(OsStr::new(name)).cloned();
        added.or_else(|| env::var_os(name).filter(|_| is_inherited))
    }
}

const SEARCH_PATH: &str = "PYTHONPATH";

fn in_folder(mut command: Command, folder: &Path) -> Command {
    command.current_dir(folder);
    command
}

impl fmt::Display for CommandLine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&joined(&self.words))
    }
}

fn joined(words: &[OsString]) -> String {
    words.iter().map(|it| it.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// The command lines to try. None of them downloads anything unless `downloads` is true.
/// `named` is the value of [`VARIABLE`]: if it is set, nothing else is tried. `beside` is the
/// folder of the running program.
fn ways(
    named: Option<&str>,
    beside: Option<&Path>,
    path: Option<&OsStr>,
    downloads: bool,
) -> Vec<(Way, Vec<OsString>)> {
    if let Some(named) = named.filter(|it| !it.trim().is_empty()) {
        return vec![(Way::Host, words(named))];
    }
    let runners = if downloads { FETCHED } else { CACHED };
    let row = |&(name, rest): &(&str, &[&str])| Some(line(on_path(name, path)?, rest));
    let bundled = beside.and_then(bundled).map(|it| vec![it.into_os_string()]);
    let pythons = INTERPRETERS.iter().filter_map(row).flat_map(|it| serving(&it));
    let bundled = bundled.into_iter().map(|it| (Way::Beside, it));
    let installed = row(&(PROGRAM, &[])).into_iter().map(|it| (Way::Path, it));
    let pythons = pythons.map(|it| (Way::Python, it));
    let fetched = runners.iter().filter_map(row).map(|it| (Way::Index, it));
    bundled.chain(installed).chain(pythons).chain(fetched).collect()
}

/// The command lines that start the sidecar with a Python, best first.
pub(crate) fn serving(python: &[OsString]) -> [Vec<OsString>; 2] {
    let module = |alone: &str| [alone, "-m", "stream_sidecar"].map(OsString::from);
    ALONE.map(|alone| python.iter().cloned().chain(module(alone)).collect())
}

/// The program in the folder made by `clients/bundle`.
fn bundled(beside: &Path) -> Option<PathBuf> {
    let name = format!("{PROGRAM}{}", env::consts::EXE_SUFFIX);
    Some(beside.join(PROGRAM).join(name)).filter(|it| is_program(it))
}

/// [`ways`] in the environment of this process.
fn ways_here(downloads: bool) -> Vec<(Way, Vec<OsString>)> {
    let named = env::var(VARIABLE).ok();
    let program = env::current_exe().ok();
    let beside = program.as_deref().and_then(Path::parent);
    ways(named.as_deref(), beside, env::var_os("PATH").as_deref(), downloads)
}

/// The command lines of [`ways_here`].
pub(crate) fn candidates_here(downloads: bool) -> Vec<Vec<OsString>> {
    ways_here(downloads).into_iter().map(|(_, words)| words).collect()
}

fn line(program: OsString, rest: &[&str]) -> Vec<OsString> {
    iter::once(program).chain(rest.iter().map(OsString::from)).collect()
}

/// The words of a command line. The path of an existing file is one word, even with blanks.
/// Quotes protect blanks. No character is an escape, so `C:\bin` stays unchanged.
fn words(text: &str) -> Vec<OsString> {
    if Path::new(text.trim()).is_file() {
        return vec![text.trim().into()];
    }
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for character in text.chars() {
        match character {
            _ if quote == Some(character) => quote = None,
            '"' | '\'' if quote.is_none() => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            _ if quote.is_none() && character.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words.into_iter().map(OsString::from).collect()
}

/// Looks up a program on `PATH`. Relative entries are skipped: they are in the host's working
/// directory.
fn on_path(name: &str, path: Option<&OsStr>) -> Option<OsString> {
    let directories = env::split_paths(path?).filter(|it| it.is_absolute());
    let files = directories.flat_map(|it| names(name).map(move |name| it.join(name)));
    files.into_iter().find(|it| is_program(it) && !is_stub(it)).map(PathBuf::into_os_string)
}

/// Whether this is the `python3` of macOS: without Xcode's tools it opens an installer, and
/// with them it is too old.
fn is_stub(path: &Path) -> bool {
    cfg!(target_os = "macos") && path == Path::new("/usr/bin/python3")
}

#[cfg(windows)]
fn names(name: &str) -> impl Iterator<Item = String> {
    ["exe", "cmd", "bat"].map(|it| format!("{name}.{it}")).into_iter()
}

#[cfg(not(windows))]
fn names(name: &str) -> impl Iterator<Item = String> {
    iter::once(name.to_owned())
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_has_words() {
        let cases = [
            ("stream-sidecar", vec!["stream-sidecar"]),
            ("  python3  -m stream_sidecar ", vec!["python3", "-m", "stream_sidecar"]),
            (r#""C:\My Tools\s.exe" --stdio"#, vec![r"C:\My Tools\s.exe", "--stdio"]),
            ("run 'a \"b' ''", vec!["run", "a \"b", ""]),
        ];
        for (text, expected) in cases {
            assert_eq!(words(text), expected, "{text}");
        }
    }

    #[test]
    fn only_the_command_in_the_variable_is_tried() {
        let named = |text| ways(Some(text), None, None, true);
        assert_eq!(named("x -y"), [(Way::Host, vec!["x".into(), "-y".into()])]);
        assert!(named(" ").is_empty());
    }

    #[test]
    fn commands_are_printed_in_order() {
        let ways = vec![(Way::Python, vec!["py".into(), "-3".into()])];
        let text = Located { ways }.to_string();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(
            lines[0],
            "host: not found (Builder::command and Builder::python, and the variable STREAM_SIDECAR)"
        );
        assert_eq!(lines[3], "python: py -3");
        assert_eq!(lines.len(), 5);
    }

    #[cfg(unix)]
    #[test]
    fn the_path_is_searched_best_first() {
        use std::{fs, os::unix::fs::PermissionsExt};
        let home = env::temp_dir().join(format!("sidecar-locate-{}", std::process::id()));
        fs::create_dir_all(&home).unwrap();
        for name in ["python3", "pipx", "uvx", "stream-sidecar", "python"] {
            fs::write(home.join(name), "").unwrap();
            let mode = if name == "python" { 0o644 } else { 0o755 };
            fs::set_permissions(home.join(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        let tried = |beside, downloads| {
            let path = env::join_paths([Path::new(""), Path::new("."), &home]).unwrap();
            let ways = ways(None, beside, Some(&path), downloads);
            let lines = ways.into_iter().map(|(way, words)| (way, joined(&words)));
            let short = |it: String| it.replace(&format!("{}/", home.display()), "");
            lines.map(|(way, it)| (way, short(it))).collect::<Vec<_>>()
        };
        let row = |way, line: &str| (way, line.to_owned());
        let path = row(Way::Path, "stream-sidecar");
        let python =
            ["-I", "-P"].map(|it| row(Way::Python, &format!("python3 {it} -m stream_sidecar")));
        let cached = row(Way::Index, "uvx --offline stream-sidecar");
        let [isolated, safe] = python;
        let rest = [path, isolated, safe, cached];
        assert_eq!(tried(None, false), rest);
        let [uvx, pipx] = ["uvx stream-sidecar", "pipx run stream-sidecar"];
        let fetched = [uvx, pipx].map(|it| row(Way::Index, it));
        assert_eq!(tried(None, true)[3..], fetched);
        fs::create_dir_all(home.join("program/stream-sidecar")).unwrap();
        let bundled = home.join("program/stream-sidecar/stream-sidecar");
        fs::copy(home.join("uvx"), &bundled).unwrap();
        let first = row(Way::Beside, "program/stream-sidecar/stream-sidecar");
        let beside = home.join("program");
        let found = tried(Some(&beside), false);
        assert_eq!((&found[0], &found[1..]), (&first, &rest[..]));
        fs::remove_dir_all(&home).unwrap();
    }
}
