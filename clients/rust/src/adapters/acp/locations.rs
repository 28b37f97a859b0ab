//! The files that a call works on, as editors need them: absolute paths, with a line.

use std::path::{Component, Path, PathBuf};

use agent_client_protocol_schema::v1::ToolCallLocation;
use percent_encoding::percent_decode_str;
use serde_json::Value;

use crate::protocol::{ToolCall, ToolKind};

/// Names of arguments that hold a path.
const PATHS: [&str; 15] = [
    "path",
    "file_path",
    "filePath",
    "filepath",
    "file",
    "filename",
    "uri",
    "target_file",
    "targetFile",
    "source",
    "destination",
    "old_path",
    "new_path",
    "oldPath",
    "newPath",
];

/// Names of arguments that hold a line of the file, counted from 1.
const LINES: [&str; 5] = ["line", "start_line", "startLine", "line_number", "lineNumber"];

/// The files of a call. Relative paths start from `folder`; without it they are left out.
pub(crate) fn locations_of(call: &ToolCall, folder: Option<&Path>) -> Vec<ToolCallLocation> {
    let Some(given) = call.input.as_ref().filter(|_| is_on_files(&call.kind)) else {
        return Vec::new();
    };
    let line = LINES.iter().find_map(|name| line_of(given.get(*name)?));
    let mut paths: Vec<PathBuf> = Vec::new();
    for path in PATHS.iter().filter_map(|name| path_of(given.get(*name)?.as_str()?, folder)) {
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths.into_iter().map(|path| ToolCallLocation::new(path).line(line)).collect()
}

/// Whether arguments with these names are files, for a call of this kind.
fn is_on_files(kind: &ToolKind) -> bool {
    use ToolKind::{Delete, Edit, Move, Read, Search};
    matches!(kind, Read | Edit | Delete | Move | Search)
}

fn line_of(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|line| u32::try_from(line).ok()).filter(|line| *line > 0)
}

fn path_of(text: &str, folder: Option<&Path>) -> Option<PathBuf> {
    if let Some(url) = text.strip_prefix("file://") {
        return of_url(url);
    }
    if text.is_empty() || Path::new(text).is_absolute() {
        return (!text.is_empty()).then(|| text.into());
    }
    folder.filter(|_| !text.contains("://")).map(|folder| plain(&folder.join(text)))
}

/// The path without `.` and `..`, which an editor may not resolve.
fn plain(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut plain, part| {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
        plain
    })
}

/// The path in the rest of a URL after `file://`; `None` for another machine, or for no path.
fn of_url(url: &str) -> Option<PathBuf> {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let path = url.strip_prefix("localhost").unwrap_or(url);
    if !path.starts_with('/') || path.to_ascii_lowercase().contains("%2f") {
        return None;
    }
    let path = percent_decode_str(path).decode_utf8().ok()?;
    let path = if cfg!(windows) { path.trim_start_matches('/') } else { &path };
    Some(plain(Path::new(path)))
}
