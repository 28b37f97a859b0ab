// The examples of the page need all features. Without them only the doctests are left out.
#![cfg_attr(
    any(not(doctest), all(feature = "acp", feature = "tower")),
    doc = include_str!("../README.md")
)]
#![forbid(unsafe_code)]
#![warn(clippy::print_stdout, clippy::print_stderr)]

mod adapters;
mod budget;
mod builder;
mod checks;
mod config;
mod connection;
mod error;
pub mod framing;
mod open;
mod pool;
mod process;
pub mod protocol;
mod sidecar;
mod stream;
mod warnings;
mod watching;

#[cfg(feature = "acp")]
pub use adapters::acp;
pub use adapters::passage::Passage;
pub use adapters::telemetry;
#[cfg(feature = "tower")]
pub use adapters::tower;
pub use builder::Builder;
pub use connection::handshake::PROTOCOL_VERSION;
pub use error::{Attempt, Error, LostReason, PythonProblem, RpcError, StderrTail};
pub use pool::SidecarPool;
pub use process::locate::{Located, VARIABLE, Way};
#[doc(no_inline)]
pub use protocol::{Event, OpenParams};
pub use sidecar::Sidecar;
pub use stream::body_format::Document;
pub use stream::chunk::Chunk;
pub use stream::handle::StreamHandle;
pub use stream::pipe::Pipe;
pub use watching::{ServerInfo, SidecarState, Subscription};
