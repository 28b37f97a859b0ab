//! The handshake `initialize`: sends the options, and checks that the process is a sidecar
//! with our protocol version.

use std::{process, sync::Arc};

use serde_json::{Value, json};

use crate::{
    config::Config,
    connection::link::Connection,
    error::Error,
    protocol::{Capabilities, ErrorKind},
    watching::ServerInfo,
};

/// The version of the protocol that this crate speaks.
pub const PROTOCOL_VERSION: i64 = 1;

const CAPABILITIES: &str = "/capabilities/experimental/streamSidecar";

pub(crate) async fn shake_hands(
    connection: &Arc<Connection>,
    config: &Config,
) -> Result<(Capabilities, ServerInfo), Error> {
    let params = json!({
        "processId": process::id(),
        "clientInfo": {"name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION")},
        "capabilities": {},
        "initializationOptions": {"streamSidecar": config.options},
    });
    let answer = connection.request("initialize", &params, config.start_timeout).await;
    let result = answer.map_err(|failure| as_version_error(failure.into_error()))?;
    let capabilities = capabilities(result.get())?;
    connection.notify("initialized");
    Ok(capabilities)
}

/// The capabilities and the server in an answer; an error if the version is not ours.
fn capabilities(result: &str) -> Result<(Capabilities, ServerInfo), Error> {
    let unfit = |error| Error::json("the result of initialize", error);
    let result: Value = serde_json::from_str(result).map_err(unfit)?;
    let offered = result.pointer(CAPABILITIES).unwrap_or(&Value::Null);
    let found = offered["protocolVersion"].as_i64();
    if found != Some(PROTOCOL_VERSION) {
        let found = found.into_iter().collect();
        return Err(Error::Version { wanted: PROTOCOL_VERSION, found });
    }
    let capabilities = serde_json::from_value(offered.clone()).map_err(unfit)?;
    let server = serde_json::from_value(result["serverInfo"].clone()).unwrap_or_default();
    Ok((capabilities, server))
}

/// A refused version as [`Error::Version`]; other errors unchanged.
fn as_version_error(error: Error) -> Error {
    match error {
        Error::Rpc(refusal) if refusal.kind() == ErrorKind::UnsupportedVersion => {
            let supported = refusal.data.get("supported").and_then(Value::as_array);
            let found = supported.into_iter().flatten().filter_map(Value::as_i64).collect();
            Error::Version { wanted: PROTOCOL_VERSION, found }
        }
        other => other,
    }
}
