//! One response of one model: its chunks, its events, its clean body, and its replay in a new
//! process.

pub(crate) mod answer;
pub(crate) mod body_format;
pub(crate) mod chunk;
pub(crate) mod handle;
pub(crate) mod lease;
pub(crate) mod pass_through;
pub(crate) mod pipe;
pub(crate) mod remote_stream;
pub(crate) mod replay_log;
pub(crate) mod slices;
pub(crate) mod window;
