//! Enumerations and unions that later versions of the protocol may extend. An unknown value
//! is kept unchanged and is never an error.

/// An enumeration of strings, with `Other` for the values of later versions.
macro_rules! open_enum {
    ($(#[$meta:meta])* $name:ident { $($variant:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, serde::Deserialize)]
        #[serde(from = "String")]
        #[non_exhaustive]
        pub enum $name {
            $(#[doc = concat!("`", $text, "`")] $variant,)*
            /// A value that this version of the crate does not know.
            Other(String),
        }

        impl $name {
            /// The value as it is written in JSON.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $text,)*
                    Self::Other(text) => text,
                }
            }
        }

        impl $crate::open::Words for $name {
            const WORDS: &'static [&'static str] = &[$($text),*];

            fn word(&self) -> &str {
                self.as_str()
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                match text.as_str() {
                    $($text => Self::$variant,)*
                    _ => Self::Other(text),
                }
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                text.to_owned().into()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
                output.serialize_str(self.as_str())
            }
        }
    };
}

/// A union of objects with a `type`. `Unknown` is for the types of later versions, and for
/// objects that do not have the shape of their type.
macro_rules! open_union {
    ($(#[$meta:meta])* $name:ident { $($tag:literal = $variant:ident($kind:ty),)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize)]
        #[serde(untagged)]
        #[non_exhaustive]
        pub enum $name {
            $(#[doc = concat!("`", $tag, "`")] $variant($kind),)*
            /// An object that this version of the crate does not know, unchanged.
            Unknown(serde_json::Value),
        }

        impl $name {
            /// The `type`; empty if an unknown object has none.
            #[must_use]
            pub fn tag(&self) -> &str {
                match self {
                    $(Self::$variant(_) => $tag,)*
                    Self::Unknown(value) => $crate::open::tag(value),
                }
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
                let value = serde_json::Value::deserialize(input)?;
                let known = match $crate::open::tag(&value) {
                    $($tag => <$kind>::deserialize(&value).map(Self::$variant).ok(),)*
                    _ => None,
                };
                Ok(known.unwrap_or(Self::Unknown(value)))
            }
        }
    };
}

pub(crate) use {open_enum, open_union};

/// The words of an open enumeration that this version of the crate knows.
pub(crate) trait Words {
    const WORDS: &'static [&'static str];

    fn word(&self) -> &str;
}

/// Reads a field that is present, even if its value is null.
pub(crate) fn present<'de, D>(input: D) -> Result<Option<serde_json::Value>, D::Error>
where
    D: serde::Deserializer<'de>,
{
    serde::Deserialize::deserialize(input).map(Some)
}

pub(crate) fn tag(value: &serde_json::Value) -> &str {
    value.get("type").and_then(serde_json::Value::as_str).unwrap_or("")
}
