//! Where the sidecar is: the commands that may start it, best first.
//!
//! Says what to try and touches nothing; whether a command leads to a sidecar is seen
//! by starting it.

use std::{
    collections::BTreeMap,
    env,
    ffi::{OsStr, OsString},
    fmt, iter,
    path::{Path, PathBuf},
    process::Command,
};

/// The variable that names the command: a path, or a command line with quotes where
/// words have blanks.
pub const VARIABLE: &str = "STREAM_SIDECAR";

const PROGRAM: &str = "stream-sidecar";
/// Interpreters that may have the package: name, and what makes them start it. With `-P`
/// it is never a folder named `sidecar` in the directory that the host works in.
const INTERPRETERS: [(&str, &[&str]); 3] = [
    ("python3", &["-P", "-m", "sidecar"]),
    ("python", &["-P", "-m", "sidecar"]),
    ("py", &["-3", "-P", "-m", "sidecar"]),
];
/// What runs a package without installing it. uvx may be told to use only what it has
/// already fetched; pipx cannot.
const CACHED: &[(&str, &[&str])] = &[("uvx", &["--offline", PROGRAM])];
const FETCHED: &[(&str, &[&str])] = &[("uvx", &[PROGRAM]), ("pipx", &["run", PROGRAM])];

/// A program with its arguments, its environment and its directory.
#[derive(Debug, Clone, Default)]
pub(crate) struct CommandLine {
    pub(crate) words: Vec<OsString>,
    pub(crate) environment: BTreeMap<OsString, OsString>,
    pub(crate) directory: Option<PathBuf>,
    /// The variables that it has of this process's environment; `None`: all.
    pub(crate) inherited: Option<Vec<OsString>>,
}

impl CommandLine {
    pub(crate) fn to_command(&self) -> Command {
        let mut words = self.words.iter();
        let mut command = Command::new(words.next().map_or(OsStr::new(PROGRAM), |it| it));
        command.args(words);
        if let Some(names) = &self.inherited {
            let values = names.iter().filter_map(|name| Some((name, env::var_os(name)?)));
            command.env_clear().envs(values);
        }
        command.envs(&self.environment);
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        command
    }
}

impl fmt::Display for CommandLine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<_> = self.words.iter().map(|it| it.to_string_lossy()).collect();
        formatter.write_str(&words.join(" "))
    }
}

/// The command lines that are worth a try, none of which downloads anything unless
/// `downloads` allows it. `named` is what [`VARIABLE`] says: where it says something
/// nothing else is tried, for the user meant it.
pub(crate) fn candidates(
    named: Option<&str>,
    path: Option<&OsStr>,
    downloads: bool,
) -> Vec<Vec<OsString>> {
    if let Some(named) = named.filter(|it| !it.trim().is_empty()) {
        return vec![words(named)];
    }
    let runners = if downloads { FETCHED } else { CACHED };
    let rows = [(PROGRAM, &[][..])].into_iter();
    let rows = rows.chain(runners.iter().copied()).chain(INTERPRETERS);
    rows.filter_map(|(name, rest)| Some(line(on_path(name, path)?, rest))).collect()
}

/// What the environment of this process says.
pub(crate) fn candidates_here(downloads: bool) -> Vec<Vec<OsString>> {
    let named = env::var(VARIABLE).ok();
    candidates(named.as_deref(), env::var_os("PATH").as_deref(), downloads)
}

fn line(program: OsString, rest: &[&str]) -> Vec<OsString> {
    iter::once(program).chain(rest.iter().map(OsString::from)).collect()
}

/// The words of a command line. A path that exists is one word, blanks or not; quotes
/// keep blanks together, and nothing is an escape, so that `C:\bin` stays what it is.
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

fn on_path(name: &str, path: Option<&OsStr>) -> Option<OsString> {
    let directories = env::split_paths(path?);
    let files = directories.flat_map(|it| names(name).map(move |name| it.join(name)));
    files.into_iter().find(|it| is_program(it)).map(PathBuf::into_os_string)
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
            ("  python3  -m sidecar ", vec!["python3", "-m", "sidecar"]),
            (r#""C:\My Tools\s.exe" --stdio"#, vec![r"C:\My Tools\s.exe", "--stdio"]),
            ("run 'a \"b' ''", vec!["run", "a \"b", ""]),
        ];
        for (text, expected) in cases {
            assert_eq!(words(text), expected, "{text}");
        }
    }

    #[test]
    fn what_the_variable_names_is_all_that_is_tried() {
        assert_eq!(candidates(Some("x -y"), None, true), [["x", "-y"]]);
        assert!(candidates(Some(" "), None, true).is_empty());
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
        let tried = |downloads| {
            let lines = candidates(None, Some(home.as_os_str()), downloads);
            let shown = lines
                .into_iter()
                .map(|words| CommandLine { words, ..CommandLine::default() }.to_string());
            shown.map(|it| it.replace(&format!("{}/", home.display()), "")).collect::<Vec<_>>()
        };
        let python = "python3 -P -m sidecar";
        let cached = ["stream-sidecar", "uvx --offline stream-sidecar", python];
        assert_eq!(tried(false), cached);
        let fetched = ["stream-sidecar", "uvx stream-sidecar", "pipx run stream-sidecar", python];
        assert_eq!(tried(true), fetched);
        fs::remove_dir_all(&home).unwrap();
    }
}
