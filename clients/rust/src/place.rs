//! Where a sidecar's process works, and what it has of an environment.
//!
//! A Python runs what lies on its search path before it runs what it was asked for, so
//! the folder that the host has opened, which may be anybody's, must not get there:
//! neither as the folder that the process works in nor by an entry of `PYTHONPATH` that
//! means it.

use std::{
    env,
    ffi::{OsStr, OsString},
    path::{self, MAIN_SEPARATOR_STR, Path, PathBuf},
};

/// The folder of the program that runs; the root, where an update has taken it away. Who
/// may write there may as well replace the program.
pub(crate) fn own_folder() -> PathBuf {
    let program = env::current_exe().ok();
    let folder = program.as_deref().and_then(Path::parent).filter(|it| it.is_dir());
    folder.map_or_else(|| MAIN_SEPARATOR_STR.into(), Path::to_path_buf)
}

/// A program that a path names, as that path is meant here; a bare name is looked up on
/// `PATH`.
pub(crate) fn from_here(program: &OsStr) -> OsString {
    let is_bare = Path::new(program).file_name() == Some(program);
    let absolute = path::absolute(program).ok().filter(|_| !is_bare);
    absolute.map_or_else(|| program.into(), PathBuf::into_os_string)
}

/// The absolute entries of a search path: an empty or relative one is below the folder
/// that is worked in.
pub(crate) fn absolute_entries(search_path: &OsStr) -> OsString {
    let entries = env::split_paths(search_path).filter(|it| it.is_absolute());
    env::join_paths(entries).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_below_the_folder_that_is_worked_in_goes() {
        let root = env::temp_dir();
        let relative = [Path::new(""), &root, Path::new("."), Path::new("b"), &root];
        let given = env::join_paths(relative).unwrap();
        assert_eq!(absolute_entries(&given), env::join_paths([&root, &root]).unwrap());
        assert_eq!(absolute_entries(OsStr::new("")), "");
    }

    #[test]
    fn a_program_is_the_one_that_its_path_means_here() {
        assert_eq!(from_here(OsStr::new("sc")), "sc");
        assert_eq!(from_here(OsStr::new("./sc")), env::current_dir().unwrap().join("sc"));
        assert_eq!(own_folder(), env::current_exe().unwrap().parent().unwrap());
    }
}
