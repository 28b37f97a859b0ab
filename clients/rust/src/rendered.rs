//! A message that came, as one that goes back: [`Message`] has more fields than
//! [`Turn`], which `message/render` takes.

use crate::{
    error::Error,
    protocol::{Message, Turn},
};

impl TryFrom<&Message> for Turn {
    type Error = Error;

    /// # Errors
    ///
    /// [`Error::Json`] for a message that was made by hand and is none.
    fn try_from(message: &Message) -> Result<Self, Error> {
        let turn = serde_json::to_value(message).and_then(serde_json::from_value);
        turn.map_err(|error| Error::json("a message to be rendered", error))
    }
}
