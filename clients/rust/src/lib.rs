// The examples of the page need all features. Without them only the doctests are left out.
#![cfg_attr(
    any(not(doctest), all(feature = "acp", feature = "tower")),
    doc = include_str!("../README.md")
)]
#![forbid(unsafe_code)]
#![warn(clippy::print_stdout, clippy::print_stderr)]

#[cfg(feature = "acp")]
pub mod acp;
#[cfg(feature = "acp")]
mod acp_locations;
mod answer;
mod body_format;
mod builder;
mod check;
mod chunk;
mod config;
mod connection;
mod error;
pub mod framing;
mod gate;
mod handle;
mod handshake;
mod kept;
mod lease;
mod locate;
mod message;
mod open;
mod pass_through;
mod passage;
mod pipe;
mod place;
mod pool;
mod process;
pub mod protocol;
mod python;
mod rendered;
mod requests;
mod retry;
mod sidecar;
mod stream;
mod supervisor;
pub mod telemetry;
#[cfg(feature = "tower")]
pub mod tower;
#[cfg(feature = "acp")]
mod turn;
mod warnings;
mod watching;
mod window;
mod wire;

pub use body_format::Document;
pub use builder::Builder;
pub use chunk::Chunk;
pub use error::{Attempt, Error, LostReason, RpcError, StderrTail};
pub use handle::StreamHandle;
pub use handshake::PROTOCOL_VERSION;
pub use locate::{Located, VARIABLE, Way};
pub use passage::Passage;
pub use pipe::Pipe;
pub use pool::SidecarPool;
#[doc(no_inline)]
pub use protocol::{Event, OpenParams};
pub use python::PythonProblem;
pub use sidecar::Sidecar;
pub use watching::{ServerInfo, SidecarState, Subscription};
