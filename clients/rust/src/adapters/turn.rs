//! One choice of a stream, prepared for adapters. Fields that the sidecar sends only once (a
//! call's id and name, a source's url and title) are filled in in every event. The end says
//! which calls the host must run; until then `executable` is provisional.

use std::collections::{HashMap, HashSet};

use crate::protocol::{
    Citation, Event, Executor, Finish, FinishReason, Message, ToolCall, ToolCallDelta,
    ToolCallOrigin, ToolCallState,
};

const NOT_OURS: &str = "the client does not run this call";

/// The events of one choice, filled in as they arrive, and its end.
#[derive(Default)]
pub(crate) struct Turn {
    choice: i64,
    filler: Filler,
    /// The blocks of calls that were not retracted, and whether each is executable so far.
    calls: HashMap<i64, bool>,
    finish: Option<Finish>,
}

impl Turn {
    pub(crate) fn new(choice: i64) -> Self {
        Self { choice, ..Self::default() }
    }

    /// The event, filled in; `None` for an event of another choice, and for the finish.
    pub(crate) fn of(&mut self, event: Event) -> Option<Event> {
        let event = self.filler.of(event);
        if event.choice() != self.choice {
            return None;
        }
        match &event {
            Event::ToolCall(call) => {
                self.calls.extend(call.block.map(|block| (block, call.executable)));
            }
            Event::Retract(retract) => self.calls.retain(|it, _| !retract.blocks.contains(it)),
            Event::Finish(finish) => {
                self.finish = Some(finish.clone());
                return None;
            }
            _ => {}
        }
        Some(event)
    }

    pub(crate) fn finish(&self) -> Option<&Finish> {
        self.finish.as_ref()
    }

    /// The blocks of the calls that the host must run: calls that are executable in the message
    /// of the closed stream too. None if the turn failed, or broke off without a message.
    pub(crate) fn executable(&self, message: Option<&Message>) -> HashSet<i64> {
        let Some(message) = message.filter(|_| !is_failed(self.finish())) else {
            return HashSet::new();
        };
        let settled: HashSet<i64> = of_choice(message, self.choice)
            .iter()
            .filter_map(|it| it.block.filter(|_| it.executable))
            .collect();
        let found = self.calls.iter().filter(|it| *it.1).map(|it| *it.0);
        found.filter(|it| settled.contains(it)).collect()
    }
}

fn of_choice(message: &Message, choice: i64) -> &[ToolCall] {
    if choice == 0 {
        return &message.tool_calls;
    }
    let choices = message.choices.as_deref().unwrap_or_default();
    choices.iter().find(|it| it.choice == Some(choice)).map_or(&[], |it| &it.tool_calls)
}

/// Whether the turn failed, so that none of its calls is run.
pub(crate) fn is_failed(finish: Option<&Finish>) -> bool {
    finish.is_none_or(|it| {
        matches!(it.reason, FinishReason::Malformed | FinishReason::Error | FinishReason::Cancelled)
    })
}

/// Whether the provider runs this call, or has run it.
pub(crate) fn is_of_server(call: &ToolCall) -> bool {
    call.executor == Executor::Server
        && call.origin == ToolCallOrigin::Structured
        && call.state == ToolCallState::Complete
}

/// Why a call that is not executable is not.
pub(crate) fn objection(call: &ToolCall) -> String {
    if call.origin != ToolCallOrigin::Structured {
        "the call was found in the text".into()
    } else if call.state != ToolCallState::Complete {
        format!("the arguments are {}", call.state)
    } else if call.declared == Some(false) {
        format!("no tool {} is declared", call.name)
    } else {
        NOT_OURS.into()
    }
}

/// Why a call that was not complete at the end of the turn is not run.
pub(crate) fn objection_of_end(finish: Option<&Finish>) -> String {
    let Some(Finish { reason, .. }) = finish else {
        return "the turn broke off".into();
    };
    let is_cut = matches!(reason, FinishReason::Length | FinishReason::ContextLength);
    if is_cut || is_failed(finish) {
        format!("the turn ended with {reason}")
    } else {
        NOT_OURS.into()
    }
}

/// Fills in fields of an event from earlier events of the same call or source.
#[derive(Default)]
struct Filler {
    calls: HashMap<i64, (String, Option<String>)>,
    sources: HashMap<i64, (Option<String>, Option<String>)>,
}

impl Filler {
    fn of(&mut self, event: Event) -> Event {
        match event {
            Event::ToolCallDelta(delta) => Event::ToolCallDelta(self.delta(delta)),
            Event::Citation(citation) => Event::Citation(Box::new(self.citation(*citation))),
            other => other,
        }
    }

    fn delta(&mut self, mut delta: ToolCallDelta) -> ToolCallDelta {
        let ToolCallDelta { block, tool_call_id, name, .. } = &mut delta;
        let first =
            || (tool_call_id.take().unwrap_or_else(|| format!("call-{block}")), name.take());
        let (known, called) = self.calls.entry(*block).or_insert_with(first).clone();
        (*tool_call_id, *name) = (Some(known), called);
        delta
    }

    fn citation(&mut self, mut citation: Citation) -> Citation {
        let known = self.sources.entry(citation.source).or_default();
        for (known, field) in
            [(&mut known.0, &mut citation.url), (&mut known.1, &mut citation.title)]
        {
            match field {
                Some(value) => *known = Some(value.clone()),
                None => field.clone_from(known),
            }
        }
        citation
    }
}
