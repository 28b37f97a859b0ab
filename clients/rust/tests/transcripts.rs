//! The transcripts of `tests/transcripts`, replayed to a process with this crate's frames: the
//! sidecar's answers equal the recorded ones, and this crate's types hold all of them. Each
//! transcript is a test.

mod support;

use std::{
    collections::HashMap,
    fs,
    io::{BufReader, Read, Write},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use libtest_mimic::{Arguments, Failed, Trial};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use stream_sidecar::{RpcError, framing, protocol};

fn main() {
    let home = support::project_tests().join("transcripts");
    let paths = support::files(&home, ".jsonl");
    assert!(paths.len() > 40, "the transcripts are there");
    let trials = paths.into_iter().map(|path| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        Trial::test(name, move || replay(&path).map_err(Failed::from))
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit();
}

fn replay(path: &Path) -> Result<(), String> {
    let mut host = Host::start();
    for (number, line) in fs::read_to_string(path).unwrap().lines().enumerate() {
        let line: Value = serde_json::from_str(line).unwrap();
        host.play(&line).map_err(|problem| format!("line {}: {problem}", number + 1))?;
    }
    Ok(())
}

struct Host {
    process: Child,
    output: BufReader<ChildStdout>,
    /// The requested methods, by the JSON of their ids.
    asked: HashMap<String, String>,
}

impl Host {
    fn start() -> Self {
        let words = support::command();
        let mut process = Command::new(&words[0])
            .args(&words[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the sidecar starts");
        let output = BufReader::new(process.stdout.take().unwrap());
        Self { process, output, asked: HashMap::new() }
    }

    fn play(&mut self, line: &Value) -> Result<(), String> {
        match line["dir"].as_str() {
            Some("in") => self.say(line),
            Some("out") => self.expect(&line["msg"])?,
            Some("exit") => self.end(line)?,
            _ => {} // the header, a comment
        }
        Ok(())
    }

    fn say(&mut self, line: &Value) {
        if let Some(message) = line.get("msg") {
            if let (Some(id), Some(method)) = (message.get("id"), message["method"].as_str()) {
                self.asked.insert(id.to_string(), method.to_owned());
            }
            self.write(&framing::frame(message.to_string().as_bytes()));
        } else if let Some(raw) = line["raw"].as_str() {
            self.write(raw.as_bytes());
        } else if let Some(raw) = line["base64"].as_str() {
            self.write(&STANDARD.decode(raw).unwrap());
        } else {
            assert_eq!(line["end"], true);
            self.process.stdin = None;
        }
    }

    fn write(&mut self, bytes: &[u8]) {
        self.process.stdin.as_mut().unwrap().write_all(bytes).unwrap();
    }

    fn expect(&mut self, expected: &Value) -> Result<(), String> {
        let body = framing::read(&mut self.output).unwrap().ok_or("the output ended")?;
        let message: Value = serde_json::from_slice(&body).map_err(|it| it.to_string())?;
        same(expected, &message, "")?;
        self.typed(&message)
    }

    /// Checks that the types know the whole message: read and written again, it is the same.
    fn typed(&self, message: &Value) -> Result<(), String> {
        if let Some(error) = message.get("error") {
            return read::<RpcError>(error);
        }
        let Some(result) = message.get("result").or_else(|| message.get("params")) else {
            return Err("neither an answer nor a notification".into());
        };
        if message.get("id").is_some_and(|id| !self.asked.contains_key(&id.to_string())) {
            return Ok(()); // the request was bytes that are not a message
        }
        let method = self.asked.get(&message["id"].to_string()).map(String::as_str);
        match method.or(message["method"].as_str()).unwrap_or_default() {
            "initialize" => kept::<protocol::Capabilities>(
                &result["capabilities"]["experimental"]["streamSidecar"],
            ),
            "stream/events" if result.get("error").is_some() => {
                read::<protocol::PushRefusal>(result)
            }
            "stream/push" | "stream/events" => kept::<protocol::PushResult>(result),
            "stream/open" => kept::<protocol::OpenResult>(result),
            "stream/close" => kept::<protocol::CloseResult>(result),
            "stream/snapshot" => kept::<protocol::SnapshotResult>(result),
            "stream/list" => kept::<protocol::ListResult>(result),
            "message/inspect" => kept::<protocol::InspectResult>(result),
            "message/repair" => kept::<protocol::RepairResult>(result),
            "$/progress" => Ok(()), // LSP's
            "message/render" => kept::<protocol::RenderResult>(result),
            "request/prepare" => kept::<protocol::PrepareResult>(result),
            "message/normalize" => kept::<protocol::NormalizeResult>(result),
            "tool/classify" => kept::<protocol::ClassifyResult>(result),
            "error/normalize" => kept::<protocol::NormalizeErrorResult>(result),
            "sidecar/stats" => kept::<protocol::StatsResult>(result),
            "shutdown" => kept::<()>(result),
            other => Err(format!("the result of {other:?} has no type")),
        }
    }

    /// The process writes nothing more and exits, with nothing on standard error.
    fn end(&mut self, line: &Value) -> Result<(), String> {
        if let Some(body) = framing::read(&mut self.output).unwrap() {
            return Err(format!("unexpected: {}", String::from_utf8_lossy(&body)));
        }
        let mut said = String::new();
        self.process.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        let code = self.process.wait().unwrap().code().map_or(Value::Null, Value::from);
        same(&Value::from(""), &said.into(), "stderr")?;
        same(&line["code"], &code, "the exit code")
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn read<T: DeserializeOwned>(value: &Value) -> Result<(), String> {
    serde_json::from_value::<T>(value.clone()).map(drop).map_err(|it| it.to_string())
}

fn kept<T: Serialize + DeserializeOwned>(value: &Value) -> Result<(), String> {
    let read: T = serde_json::from_value(value.clone()).map_err(|it| it.to_string())?;
    let written = serde_json::to_value(read).map_err(|it| it.to_string())?;
    same(value, &written, "as a type")?;
    same(&written, value, "as a type")
}

/// Whether the values are equal; `"..."` in `expected` equals any value.
fn same(expected: &Value, actual: &Value, path: &str) -> Result<(), String> {
    match (expected, actual) {
        (Value::String(any), _) if any == "..." => Ok(()),
        (Value::Object(old), Value::Object(new)) => {
            if let Some(key) = old
                .keys()
                .chain(new.keys())
                .find(|it| !(old.contains_key(*it) && new.contains_key(*it)))
            {
                return Err(format!("{path}.{key} is missing or unexpected"));
            }
            old.iter().try_for_each(|(key, it)| same(it, &new[key], &format!("{path}.{key}")))
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            let mut pairs = old.iter().zip(new).enumerate();
            pairs.try_for_each(|(at, (old, new))| same(old, new, &format!("{path}[{at}]")))
        }
        _ if expected == actual => Ok(()),
        _ => Err(format!("{path} is {actual} instead of {expected}")),
    }
}
