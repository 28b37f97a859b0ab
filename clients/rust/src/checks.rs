//! Checks the options of a host where they are given. Types find most mistakes earlier; here are
//! the values that types cannot exclude: an open enumeration has any text, a number may be 0.

use std::{ffi::OsString, fmt::Display};

use crate::{
    config::Config,
    error::Error,
    open::Words,
    protocol::{
        Dialects, LimitsPatch, PolicyPatch, ReasoningPolicyPatch, ToolCallsPolicyPatch,
        ToolResultsPolicyPatch,
    },
};

const LOG_LEVELS: [&str; 4] = ["error", "warning", "info", "debug"];

pub(crate) fn config(config: &Config) -> Result<(), Error> {
    let unnamed = |words: &Vec<OsString>| words.first().is_none_or(|it| it.as_os_str().is_empty());
    if config.commands.iter().any(unnamed) {
        return Err(wrong("command", "names no program"));
    }
    for (option, time) in [
        ("start_timeout", config.start_timeout),
        ("request_timeout", config.request_timeout),
        ("batch_timeout", config.batch_timeout),
        ("shutdown_timeout", config.shutdown_timeout),
    ] {
        if time.is_zero() {
            return Err(wrong(option, "must be more than 0; `Duration::MAX` is no limit"));
        }
    }
    at_least("max_concurrent_requests", 1, Some(config.bounds.requests))?;
    at_least("max_concurrent_bytes", 1, Some(config.bounds.bytes))?;
    if let Some(level) = config.log_level.as_deref().filter(|it| !LOG_LEVELS.contains(it)) {
        return Err(wrong("log_level", format!("must be one of {LOG_LEVELS:?}, not {level:?}")));
    }
    config.options.limits.as_ref().map_or(Ok(()), limits)?;
    config.options.policy.as_ref().map_or(Ok(()), policy)
}

fn limits(limits: &LimitsPatch) -> Result<(), Error> {
    let LimitsPatch {
        max_streams,
        max_message_bytes,
        max_document_chars,
        max_held_chars,
        max_call_chars,
        max_held_bytes,
        idle_timeout_ms,
    } = limits;
    at_least("limits.max_streams", 1, *max_streams)?;
    at_least("limits.max_message_bytes", 1, *max_message_bytes)?;
    at_least("limits.max_document_chars", 1, *max_document_chars)?;
    at_least("limits.max_held_chars", 1, *max_held_chars)?;
    at_least("limits.max_call_chars", 1, *max_call_chars)?;
    at_least("limits.max_held_bytes", 1, *max_held_bytes)?;
    at_least("limits.idle_timeout_ms", 0, *idle_timeout_ms)
}

/// The words of a policy.
pub(crate) fn policy(policy: &PolicyPatch) -> Result<(), Error> {
    let PolicyPatch {
        reasoning,
        tool_results,
        tool_calls,
        dialects,
        echo: _,
        message: _,
        trace: _,
    } = policy;
    if let Some(reasoning) = reasoning {
        let ReasoningPolicyPatch { tags: _, scope, precedence, starts_open, unclosed, as_answer } =
            reasoning;
        known("policy.reasoning.scope", scope.as_ref())?;
        known("policy.reasoning.precedence", precedence.as_ref())?;
        known("policy.reasoning.starts_open", starts_open.as_ref())?;
        known("policy.reasoning.unclosed", unclosed.as_ref())?;
        known("policy.reasoning.as_answer", as_answer.as_ref())?;
    }
    if let Some(ToolResultsPolicyPatch { mode, indicators: _, known: _ }) = tool_results {
        known("policy.tool_results.mode", mode.as_ref())?;
    }
    if let Some(ToolCallsPolicyPatch { mode }) = tool_calls {
        known("policy.tool_calls.mode", mode.as_ref())?;
    }
    match dialects {
        Some(Dialects::Word(word)) => known("policy.dialects", Some(word)),
        _ => Ok(()),
    }
}

/// A word of an open enumeration that this version knows. Words of later versions are only read.
pub(crate) fn known<T: Words>(option: &str, given: Option<&T>) -> Result<(), Error> {
    match given.map(Words::word).filter(|it| !T::WORDS.contains(it)) {
        Some(word) => Err(wrong(option, format!("must be one of {:?}, not {word:?}", T::WORDS))),
        None => Ok(()),
    }
}

fn at_least<T: PartialOrd + Display + Copy>(
    option: &str,
    least: T,
    given: Option<T>,
) -> Result<(), Error> {
    match given.filter(|it| *it < least) {
        Some(number) => Err(wrong(option, format!("must be at least {least}, not {number}"))),
        None => Ok(()),
    }
}

pub(crate) fn wrong(option: &str, problem: impl Into<String>) -> Error {
    Error::Option { option: option.to_owned(), problem: problem.into() }
}
