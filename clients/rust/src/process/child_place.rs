//! The working directory and the environment of a sidecar's process.
//!
//! A Python runs modules on its search path before it runs the requested program. So the
//! folder that the host has opened, whose content may be untrusted, must not get on the search
//! path: neither as the working directory nor by a relative entry of `PYTHONPATH`.

use std::{
    env,
    ffi::{OsStr, OsString},
    path::{self, MAIN_SEPARATOR_STR, Path, PathBuf},
};

/// The folder of the running program, or the root if an update has removed that folder. A
/// person who can write there can also replace the program.
pub(crate) fn own_folder() -> PathBuf {
    let program = env::current_exe().ok();
    let folder = program.as_deref().and_then(Path::parent).filter(|it| it.is_dir());
    folder.map_or_else(|| MAIN_SEPARATOR_STR.into(), Path::to_path_buf)
}

/// The absolute path of a program, relative to the host's working directory. A bare name stays
/// a name, which is looked up on `PATH`.
pub(crate) fn from_here(program: &OsStr) -> OsString {
    let is_bare = Path::new(program).file_name() == Some(program);
    let absolute = path::absolute(program).ok().filter(|_| !is_bare);
    absolute.map_or_else(|| program.into(), PathBuf::into_os_string)
}

/// The absolute entries of a search path. Empty and relative entries are in the working
/// directory.
pub(crate) fn absolute_entries(search_path: &OsStr) -> OsString {
    let entries = env::split_paths(search_path).filter(|it| it.is_absolute());
    env::join_paths(entries).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_in_the_working_directory_are_removed() {
        let root = env::temp_dir();
        let relative = [Path::new(""), &root, Path::new("."), Path::new("b"), &root];
        let given = env::join_paths(relative).unwrap();
        assert_eq!(absolute_entries(&given), env::join_paths([&root, &root]).unwrap());
        assert_eq!(absolute_entries(OsStr::new("")), "");
    }

    #[test]
    fn a_path_of_a_program_starts_from_the_hosts_directory() {
        assert_eq!(from_here(OsStr::new("sc")), "sc");
        assert_eq!(from_here(OsStr::new("./sc")), env::current_dir().unwrap().join("sc"));
        assert_eq!(own_folder(), env::current_exe().unwrap().parent().unwrap());
    }
}
