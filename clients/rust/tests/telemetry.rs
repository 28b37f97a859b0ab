//! The `OpenTelemetry` attributes of a response are the same in every client
//! (`tests/data/telemetry.jsonl`).

mod support;

use std::{fs, time::Duration};

use serde_json::{Value, json};
use stream_sidecar::{protocol::CloseResult, telemetry};
use support::project_tests;

#[test]
fn every_response_has_the_attributes_of_python() {
    let text = fs::read_to_string(project_tests().join("data/telemetry.jsonl")).unwrap();
    let rows: Vec<Value> = text.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    assert!(rows.len() > 5, "they are there");
    for row in rows {
        let mut closed = row["closed"].clone();
        closed["streamId"] = json!("s");
        closed["events"] = json!([]);
        let closed: CloseResult = serde_json::from_value(closed).unwrap();
        let first = Some(Duration::from_millis(250));
        let mut attributes = telemetry::attributes(&closed, first, true);
        let messages = attributes["gen_ai.output.messages"].as_str().unwrap();
        let messages: Value = serde_json::from_str(messages).unwrap();
        assert_eq!(messages, Value::from(telemetry::output_messages(&closed.message)));
        attributes.insert("gen_ai.output.messages".into(), messages);
        assert_eq!(Value::from(attributes), row["attributes"], "{}", row["name"]);
        let without = telemetry::attributes(&closed, None, false);
        assert!(!without.contains_key("gen_ai.output.messages"));
    }
}
