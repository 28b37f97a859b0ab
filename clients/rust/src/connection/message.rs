//! JSON-RPC as bytes: writes the frames of requests and notifications, and reads bodies.

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::{error::RpcError, framing};

const METHOD_NOT_FOUND: i64 = -32601;

/// A message of the sidecar.
pub(crate) enum Received {
    /// The answer to the request with this id.
    Answer(i64, Result<Box<RawValue>, RpcError>),
    /// A request of the sidecar, with its id.
    Request(Box<RawValue>),
    Notification,
}

/// The frame of a request. `method` is a plain name, `params` JSON text.
pub(crate) fn request(id: i64, method: &str, params: Option<&str>) -> Vec<u8> {
    frame(&format!(r#""id":{id},"#), method, params)
}

/// The frame of a notification.
pub(crate) fn notification(method: &str, params: Option<&str>) -> Vec<u8> {
    frame("", method, params)
}

fn frame(id: &str, method: &str, params: Option<&str>) -> Vec<u8> {
    let before = if params.is_some() { r#","params":"# } else { "" };
    let params = params.unwrap_or_default();
    let body = format!(r#"{{"jsonrpc":"2.0",{id}"method":"{method}"{before}{params}}}"#);
    framing::frame(body.as_bytes())
}

/// The frame that refuses a request of the sidecar, which it may make as a language server.
pub(crate) fn refusal(id: &RawValue) -> Vec<u8> {
    let error = format!(r#"{{"code":{METHOD_NOT_FOUND},"message":"not a method of this host"}}"#);
    framing::frame(format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#).as_bytes())
}

pub(crate) fn read(body: &[u8]) -> Result<Received, String> {
    let message: Incoming = serde_json::from_slice(body).map_err(|it| it.to_string())?;
    match (message.id, message.method) {
        (Some(id), None) => {
            let id = id.get().parse().map_err(|_| format!("an answer to {id}"))?;
            match (message.result, message.error) {
                (None, Some(error)) => Ok(Received::Answer(id, Err(error))),
                (Some(result), None) => Ok(Received::Answer(id, Ok(result))),
                _ => Err("an answer without a result, or with two".into()),
            }
        }
        (Some(id), Some(_)) => Ok(Received::Request(id)),
        (None, Some(_)) => Ok(Received::Notification),
        (None, None) => Err("neither an answer nor a request".into()),
    }
}

#[derive(Deserialize)]
struct Incoming<'a> {
    id: Option<Box<RawValue>>,
    #[serde(borrow)]
    method: Option<&'a RawValue>,
    // `null` is a result, which is different from an absent one.
    #[serde(default, deserialize_with = "present")]
    result: Option<Box<RawValue>>,
    error: Option<RpcError>,
}

fn present<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(input).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_json_is_an_error() {
        let bodies = [
            "",
            "[]",
            "{}",
            "7",
            r#"{"id":1}"#,
            r#"{"id":null,"error":{"code":1,"message":""}}"#,
            r#"{"id":"a","result":1}"#,
            r#"{"id":1,"result":1,"error":{"code":1,"message":""}}"#,
        ];
        for body in bodies {
            assert!(read(body.as_bytes()).is_err(), "{body}");
        }
    }

    #[test]
    fn frames_hold_json() {
        let body = |frame: Vec<u8>| {
            let body = framing::read(&mut &frame[..]).unwrap().unwrap();
            serde_json::from_slice::<serde_json::Value>(&body).unwrap()
        };
        let asked =
            serde_json::json!({"jsonrpc": "2.0", "id": 7, "method": "a/b", "params": {"c": 1}});
        assert_eq!(body(request(7, "a/b", Some("{\"c\":1}"))), asked);
        let exit = serde_json::json!({"jsonrpc": "2.0", "method": "exit"});
        assert_eq!(body(notification("exit", None)), exit);
        assert_eq!(body(refusal(&RawValue::from_string("\"x\"".into()).unwrap()))["id"], "x");
    }

    #[test]
    fn null_is_a_result() {
        let body = br#"{"jsonrpc":"2.0","id":4,"result":null}"#;
        assert!(matches!(read(body), Ok(Received::Answer(4, Ok(_)))));
    }
}
