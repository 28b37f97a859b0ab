//! The pushes of a stream that are in flight or wait to be sent, oldest first, and its close
//! after them.

use std::{
    collections::VecDeque,
    future::{Future, poll_fn},
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use crate::{
    connection::{
        link::{Connection, Ticket},
        message_connection::Answer,
    },
    error::Failure,
    stream::{
        replay_log::push_params,
        slices::{Request, UNDER_WAY},
    },
};

#[derive(Default)]
pub(crate) struct Window(VecDeque<Entry>);

/// A request whose answer was not accepted yet. A request without a ticket and an answer was
/// not sent, or its process has ended.
struct Entry {
    what: What,
    ticket: Option<Ticket>,
    answer: Option<Answer>,
}

enum What {
    Push(Request),
    /// The last request; it has params as JSON.
    Close(String),
}

impl Entry {
    fn is_push(&self) -> bool {
        matches!(self.what, What::Push(_))
    }

    /// Ready when the answer has arrived, or will never arrive.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if let Some(ticket) = &mut self.ticket {
            self.answer = Some(ready!(Pin::new(ticket).poll(context)));
            self.ticket = None;
        }
        Poll::Ready(())
    }
}

impl Window {
    /// How many pushes there are.
    pub(crate) fn pushes(&self) -> usize {
        self.0.len() - usize::from(self.is_closing())
    }

    /// Whether the close was added.
    pub(crate) fn is_closing(&self) -> bool {
        self.0.back().is_some_and(|it| !it.is_push())
    }

    pub(crate) fn add(&mut self, request: Request) {
        self.add_last(What::Push(request));
    }

    /// Adds the close, with params as JSON.
    pub(crate) fn close(&mut self, params: String) {
        self.add_last(What::Close(params));
    }

    fn add_last(&mut self, what: What) {
        self.0.push_back(Entry { what, ticket: None, answer: None });
    }

    /// Sends unsent requests, in order: as many pushes as may be in flight, and the close
    /// together with the last of them.
    pub(crate) fn send(
        &mut self,
        connection: &std::sync::Arc<Connection>,
        stream_id: &str,
        timeout: Duration,
    ) -> Result<(), Failure> {
        let may_go = |it: &(usize, &mut Entry)| it.0 < UNDER_WAY || !it.1.is_push();
        let first = self.0.iter_mut().enumerate().take_while(may_go).map(|it| it.1);
        for each in first.filter(|it| it.ticket.is_none() && it.answer.is_none()) {
            each.ticket = Some(match &each.what {
                What::Push(request) => {
                    let params = push_params(stream_id, &request.items);
                    connection.ask_text("stream/push", &params, timeout)?
                }
                What::Close(params) => connection.ask_text("stream/close", params, timeout)?,
            });
        }
        Ok(())
    }

    /// Waits until the newest request was sent, or never will be. This slows down the pushing
    /// host.
    pub(crate) async fn sent(&mut self) {
        let Some(back) = self.0.back_mut() else {
            return;
        };
        poll_fn(|context| {
            let sent = back.ticket.as_mut().is_none_or(|it| it.poll_sent(context).is_ready());
            if sent { Poll::Ready(()) } else { back.poll(context) }
        })
        .await;
    }

    /// Whether the answer to the oldest request has arrived, or will never arrive.
    pub(crate) fn is_settled(&self) -> bool {
        self.0.front().is_some_and(|it| it.answer.is_some() || it.ticket.is_none())
    }

    /// Waits until [`Window::is_settled`]. The future may be dropped while it waits.
    pub(crate) async fn settled(&mut self) {
        let Some(front) = self.0.front_mut() else {
            return;
        };
        poll_fn(|context| front.poll(context)).await;
    }

    /// Takes the answer to the oldest request, which stays until it is accepted.
    pub(crate) fn answer(&mut self) -> Option<Answer> {
        self.0.front_mut()?.answer.take()
    }

    /// Removes the oldest request, and returns it if it is a push.
    pub(crate) fn accept(&mut self) -> Option<Request> {
        match self.0.pop_front()?.what {
            What::Push(request) => Some(request),
            What::Close(_) => None,
        }
    }

    /// Marks all requests as not sent.
    pub(crate) fn recall(&mut self) {
        for each in &mut self.0 {
            (each.ticket, each.answer) = (None, None);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}
