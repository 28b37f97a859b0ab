//! The pushes of a stream that are in flight or wait to be sent, oldest first.

use std::{
    collections::VecDeque,
    future::{Future, poll_fn},
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use crate::{
    connection::{Connection, Ticket},
    error::Failure,
    kept::push_params,
    requests::{Request, UNDER_WAY},
    wire::Answer,
};

#[derive(Default)]
pub(crate) struct Window(VecDeque<Push>);

/// A push whose answer was not accepted yet. A push without a ticket and an answer was not
/// sent, or its process has ended.
struct Push {
    request: Request,
    ticket: Option<Ticket>,
    answer: Option<Answer>,
}

impl Push {
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
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn add(&mut self, request: Request) {
        self.0.push_back(Push { request, ticket: None, answer: None });
    }

    /// Sends unsent pushes, in order, up to the number that may be in flight.
    pub(crate) fn send(
        &mut self,
        connection: &std::sync::Arc<Connection>,
        stream_id: &str,
        timeout: Duration,
    ) -> Result<(), Failure> {
        let first = self.0.iter_mut().take(UNDER_WAY);
        for push in first.filter(|it| it.ticket.is_none() && it.answer.is_none()) {
            let params = push_params(stream_id, &push.request.items);
            push.ticket = Some(connection.ask_text("stream/push", &params, timeout)?);
        }
        Ok(())
    }

    /// Waits until the newest push was sent, or never will be. This slows down the pushing
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

    /// Whether the answer to the oldest push has arrived, or will never arrive.
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

    /// Takes the answer to the oldest push; the push stays until it is accepted.
    pub(crate) fn answer(&mut self) -> Option<Answer> {
        self.0.front_mut()?.answer.take()
    }

    /// Removes the oldest push.
    pub(crate) fn accept(&mut self) -> Option<Request> {
        self.0.pop_front().map(|it| it.request)
    }

    /// Marks all pushes as not sent.
    pub(crate) fn recall(&mut self) {
        for push in &mut self.0 {
            (push.ticket, push.answer) = (None, None);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}
