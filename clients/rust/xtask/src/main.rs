//! `cargo run -p xtask`: generates `src/protocol.rs` from `clients/schema`.
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
    fs::write(target(), generated()).expect("src/protocol.rs can be written");
}

fn target() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../src/protocol.rs")
}

fn generated() -> String {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema");
    let read = |name: &str| {
        let text = fs::read_to_string(home.join(name)).expect("the schema is there");
        serde_json::from_str(&text).expect("the schema is JSON")
    };
    let protocol = model::read(&read("stream-sidecar.schema.json"), &read("methods.json"));
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
    #[test]
    fn the_types_are_those_of_the_schema() {
        let current = std::fs::read_to_string(super::target()).unwrap();
        assert!(current == super::generated(), "`cargo run -p xtask` makes it anew");
    }
}
