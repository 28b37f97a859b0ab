//! Makes a [`Turn`], which `message/render` needs, from a received [`Message`], which has more
//! fields.

use crate::{
    error::Error,
    protocol::{Message, Turn},
};

impl TryFrom<&Message> for Turn {
    type Error = Error;

    /// # Errors
    ///
    /// [`Error::Json`] if a message made by the host is not valid.
    fn try_from(message: &Message) -> Result<Self, Error> {
        let turn = serde_json::to_value(message).and_then(serde_json::from_value);
        turn.map_err(|error| Error::json("a message to be rendered", error))
    }
}
