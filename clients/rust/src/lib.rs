#![doc = include_str!("../README.md")]

mod budget;
mod builder;
mod chunk;
mod connection;
mod error;
pub mod framing;
mod handle;
mod history;
mod kept;
mod lease;
mod locate;
mod open;
mod pass_through;
mod pipe;
mod process;
pub mod protocol;
mod sidecar;
mod stream;
mod supervisor;

pub use builder::Builder;
pub use chunk::Chunk;
pub use error::{Attempt, Error, LostReason, RpcError};
pub use handle::StreamHandle;
pub use history::{
    Edit, Finding, InspectParams, InspectResult, Inspection, Removed, Repair, RepairParams,
    RepairResult,
};
pub use locate::VARIABLE;
pub use pass_through::PASS_THROUGH;
pub use pipe::Pipe;
#[doc(no_inline)]
pub use protocol::{Event, OpenParams};
pub use sidecar::Sidecar;
pub use supervisor::PROTOCOL_VERSION;
