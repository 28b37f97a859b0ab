//! Enumerations and unions that later versions of the protocol may extend: what is not
//! known is kept as it came and never an error.

/// An enumeration of strings with `Other` for those of later versions.
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
            /// As it is written in JSON.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $text,)*
                    Self::Other(text) => text,
                }
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

/// Objects that are told apart by `type`, with `Unknown` for those of later versions,
/// and for those of this version that do not have the shape they should.
macro_rules! open_union {
    ($(#[$meta:meta])* $name:ident { $($tag:literal = $variant:ident($kind:ty),)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize)]
        #[serde(untagged)]
        #[non_exhaustive]
        pub enum $name {
            $(#[doc = concat!("`", $tag, "`")] $variant($kind),)*
            /// One that this version of the crate does not know, as it came.
            Unknown(serde_json::Value),
        }

        impl $name {
            /// The `type`; empty where an unknown one has none.
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

/// A field that is there, whatever it holds: null too.
pub(crate) fn present<'de, D>(input: D) -> Result<Option<serde_json::Value>, D::Error>
where
    D: serde::Deserializer<'de>,
{
    serde::Deserialize::deserialize(input).map(Some)
}

pub(crate) fn tag(value: &serde_json::Value) -> &str {
    value.get("type").and_then(serde_json::Value::as_str).unwrap_or("")
}
