//! For every stream of `tests/data/acp_updates.jsonl`, the updates equal the updates of the
//! TypeScript client, as the Agent Client Protocol's own crate reads them.

mod support;

#[cfg(feature = "acp-v2")]
use std::collections::BTreeMap;
use std::{
    collections::HashMap,
    fs,
    sync::{Arc, Mutex},
};

use agent_client_protocol::v1::schema::{SessionNotification, SessionUpdate};
use futures_channel::mpsc;
use futures_executor::block_on;
use futures_util::{StreamExt, stream};
use serde::Deserialize;
use serde_json::{json, value::RawValue};
use stream_sidecar::{
    Chunk, Error, Event, OpenParams, Sidecar,
    acp::{self, SessionUpdateOptions, StopReason},
    protocol::Finish,
};
use support::{builder, project_tests, recordings};

/// A stream and its updates. For a recording, params and chunks are in `tests/wires`.
#[derive(Deserialize)]
struct Row {
    name: String,
    params: Option<OpenParams>,
    chunks: Option<Vec<Box<RawValue>>>,
    options: Option<Options>,
    updates: Vec<SessionUpdate>,
    others: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Options {
    choice: Option<i64>,
    cwd: Option<String>,
    context_size: Option<u64>,
}

impl Options {
    fn usual() -> Self {
        Self { choice: None, cwd: None, context_size: Some(1_000) }
    }
}

fn rows() -> Vec<Row> {
    let text = fs::read_to_string(project_tests().join("data/acp_updates.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

#[test]
fn every_stream_has_the_updates_of_typescript() {
    let sidecar = builder().build().unwrap();
    let recorded: HashMap<_, _> =
        recordings().into_iter().map(|it| (it.path, (it.options, it.chunks))).collect();
    let rows = rows();
    assert!(rows.len() > 50, "they are there");
    for row in rows {
        let given = || (row.params.unwrap_or_default(), row.chunks.unwrap_or_default());
        let (params, chunks) = recorded.get(&row.name).cloned().unwrap_or_else(given);
        let options = row.options.unwrap_or_else(Options::usual);
        let (updates, others) = block_on(updates_of(&sidecar, params, chunks, options)).unwrap();
        assert_eq!(updates, row.updates, "{}", row.name);
        assert_eq!(others, row.others, "{}", row.name);
    }
}

/// Retracted updates are removed: in the end an editor shows the message's text.
#[cfg(feature = "acp-v2")]
#[test]
fn in_version_2_an_editor_shows_the_text_of_the_message() {
    let sidecar = builder().build().unwrap();
    let mut taken_back = 0;
    let own = rows().into_iter().filter(|row| row.options.is_none());
    let own = own.filter_map(|row| Some((row.params?, row.chunks?)));
    let recorded = recordings().into_iter().map(|it| (it.options, it.chunks));
    for (params, chunks) in own.chain(recorded) {
        let (updates, closed) = block_on(async {
            let source = stream::iter(chunks.into_iter().map(Chunk::from));
            let pipe = sidecar.open(params).await.unwrap().pipe(source);
            let mut session = acp::v2::session_updates(pipe, SessionUpdateOptions::new("s"));
            let mut updates = Vec::new();
            while let Some(update) = session.next().await {
                updates.push(serde_json::to_value(update.unwrap()).unwrap());
            }
            (updates, session.into_closed().unwrap())
        });
        let mut shown: BTreeMap<i64, String> = BTreeMap::new();
        for update in &updates {
            let block = update["messageId"].as_str().map(|it| it[2..].parse().unwrap());
            let text = shown.entry(block.unwrap_or(-1)).or_default();
            match update["sessionUpdate"].as_str().unwrap() {
                "agent_message_chunk" => *text += update["content"]["text"].as_str().unwrap(),
                "agent_message" => {
                    taken_back += 1;
                    update["content"][0]["text"].as_str().unwrap_or_default().clone_into(text);
                }
                "tool_call" => panic!("version 2 has no such update"),
                _ => {}
            }
        }
        let shown: String = shown.into_values().collect();
        assert_eq!(shown, closed.message.text.unwrap_or_default());
    }
    assert!(taken_back > 0, "it is tried");
}

/// The updates (adjacent chunks of one message joined), and the events without an update.
async fn updates_of(
    sidecar: &Sidecar,
    params: OpenParams,
    chunks: Vec<Box<RawValue>>,
    given: Options,
) -> Result<(Vec<SessionUpdate>, Vec<String>), Error> {
    let others = Arc::new(Mutex::new(Vec::new()));
    let collected = Arc::clone(&others);
    let mut options = SessionUpdateOptions::new("s").on_other(move |event, id_of| {
        let mut collected = collected.lock().unwrap();
        collected.push(event.tag().to_owned());
        if let Event::Retract(retract) = event {
            collected.extend(retract.blocks.iter().map(|block| id_of(*block)));
        }
    });
    options = options.choice(given.choice.unwrap_or(0));
    if let Some(folder) = given.cwd {
        options = options.cwd(folder);
    }
    if let Some(tokens) = given.context_size {
        options = options.context_size(tokens);
    }
    let pipe = sidecar.open(params).await?.pipe(stream::iter(chunks.into_iter().map(Chunk::from)));
    let mut updates = acp::session_updates(pipe, options);
    let mut found: Vec<SessionUpdate> = Vec::new();
    while let Some(update) = updates.next().await {
        join(&mut found, carried(&update?));
    }
    assert!(updates.closed().is_some() && updates.into_closed().is_some());
    let others = others.lock().unwrap().clone();
    Ok((found, others))
}

/// An update as a client receives it.
fn carried(update: &SessionUpdate) -> SessionUpdate {
    let sent = serde_json::to_string(&SessionNotification::new("session", update.clone())).unwrap();
    let arrived: SessionNotification = serde_json::from_str(&sent).unwrap();
    assert_eq!(&arrived.update, update);
    arrived.update
}

fn join(found: &mut Vec<SessionUpdate>, update: SessionUpdate) {
    use SessionUpdate::{AgentMessageChunk, AgentThoughtChunk};
    use agent_client_protocol::v1::schema::ContentBlock::Text;
    if let (
        Some(AgentMessageChunk(last) | AgentThoughtChunk(last)),
        AgentMessageChunk(next) | AgentThoughtChunk(next),
    ) = (found.last_mut(), &update)
        && last.message_id == next.message_id
        && let (Text(last), Text(next)) = (&mut last.content, &next.content)
    {
        last.text += &next.text;
    } else {
        found.push(update);
    }
}

#[test]
fn a_stream_that_breaks_off_ends_its_call_before_the_error() {
    let call = json!({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "look"}}]});
    let chunk = |delta| json!({"choices": [{"index": 0, "delta": delta}]});
    block_on(async {
        let sidecar = builder().build().unwrap();
        let stream = sidecar.open(OpenParams::default()).await.unwrap();
        let (source, chunks) = mpsc::unbounded();
        source.unbounded_send(chunk(call)).unwrap();
        let mut updates = acp::session_updates(stream.pipe(chunks), SessionUpdateOptions::new("s"));
        let begun = updates.next().await.unwrap().unwrap();
        assert!(matches!(begun, SessionUpdate::ToolCall(_)));
        sidecar.shutdown().await.unwrap();
        source.unbounded_send(chunk(json!({"content": "a"}))).unwrap();
        let ended = serde_json::to_value(updates.next().await.unwrap().unwrap()).unwrap();
        assert_eq!(ended["status"], "failed");
        assert_eq!(ended["_meta"]["streamSidecar"]["reason"], "the turn broke off");
        assert!(updates.next().await.unwrap().is_err());
        assert!(updates.next().await.is_none());
    });
}

#[test]
fn the_reasons_to_stop() {
    let table = [
        ("stop", Some(StopReason::EndTurn)),
        ("unknown", Some(StopReason::EndTurn)),
        ("a later version's", Some(StopReason::EndTurn)),
        ("tool-calls", None),
        ("pause", None),
        ("length", Some(StopReason::MaxTokens)),
        ("context-length", Some(StopReason::MaxTokens)),
        ("refusal", Some(StopReason::Refusal)),
        ("content-filter", Some(StopReason::Refusal)),
        ("cancelled", Some(StopReason::Cancelled)),
        ("error", None),
        ("malformed", None),
    ];
    for (reason, expected) in table {
        let finish = json!({"type": "finish", "seq": 1, "reason": reason, "emptyAnswer": false, "complete": true});
        let finish: Finish = serde_json::from_value(finish).unwrap();
        assert_eq!(acp::stop_reason(&finish), expected, "{reason}");
    }
}
