//! `cargo run -p xtask`: generates `src/protocol.rs` from `clients/schema`, and copies the table
//! of endpoints from there.
//!
//! Existing generators make types that cannot be used: typify 0.5 makes `Event` an untagged
//! union whose `type` may be any value, so that every event reads as the first variant that
//! has only optional fields, and it ignores `x-open-enum`.

mod emit;
mod fields;
mod model;
mod names;

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

fn main() {
    for (file, text) in [(PROTOCOL, generated()), (ENDPOINTS, read("endpoints.json"))] {
        fs::write(here(file), text).expect("the sources can be written");
    }
}

const PROTOCOL: &str = "../src/protocol.rs";
const ENDPOINTS: &str = "../src/adapters/tower/endpoints.json";

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn read(name: &str) -> String {
    fs::read_to_string(here("../../schema").join(name)).expect("the schema is there")
}

fn generated() -> String {
    let parsed = |name| serde_json::from_str(&read(name)).expect("the schema is JSON");
    let protocol = model::read(&parsed("stream-sidecar.schema.json"), &parsed("methods.json"));
    formatted(&emit::file(&protocol))
}

fn formatted(code: &str) -> String {
    let mut rustfmt = Command::new("rustfmt")
        .args(["--edition", "2024"])
        .current_dir(env!("CARGO_MANIFEST_DIR")) // where the settings are
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("rustfmt is installed");
    let mut stdin = rustfmt.stdin.take().expect("a pipe");
    stdin.write_all(code.as_bytes()).expect("rustfmt reads");
    drop(stdin);
    let output = rustfmt.wait_with_output().expect("rustfmt ends");
    assert!(output.status.success(), "the generated code can be read");
    String::from_utf8(output.stdout).expect("code is text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_is_current() {
        for (file, made) in [(PROTOCOL, generated()), (ENDPOINTS, read("endpoints.json"))] {
            let current = fs::read_to_string(here(file)).unwrap();
            assert!(current == made, "{file}: `cargo run -p xtask` makes it anew");
        }
    }
}
