//! The model as Rust code. The layout is rustfmt's.

use crate::{
    fields,
    model::{ANY, Field, Kind, Protocol, Spelling, Struct, Union},
    names::{pascal, snake},
};

const HEAD: &str = "\
//! What goes over the wire, as `protocol.md` tells it. Made by `cargo run -p xtask` from
//! the schema; changes by hand are lost.
//!
//! Everything that the sidecar sends may grow: fields that are not known are ignored,
//! values and types that are not known are kept in `Other` and `Unknown`. Positions are
//! in Unicode code points unless a name says otherwise.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::open::{open_enum, open_union, present};
";

/// Structs with so many fields are boxed in unions, so that the others stay small.
const LARGE: usize = 12;

pub(crate) fn file(protocol: &Protocol) -> String {
    let mut parts = vec![HEAD.to_owned()];
    parts.extend(protocol.unions.iter().map(|it| union(it, &protocol.structs)));
    parts.extend(protocol.structs.iter().map(structure));
    parts.extend(protocol.spellings.iter().map(|it| spelling(it.0, it.1)));
    parts.extend(protocol.aliases.iter().map(|it| alias(&it.0, &it.1)));
    parts.extend(protocol.enums.iter().map(|it| enumeration(it.0, it.1)));
    parts.join("\n")
}

fn structure(it: &Struct) -> String {
    let empty = if it.empty { ", Default" } else { "" };
    let closed = if it.given { "" } else { "#[non_exhaustive]\n" };
    let tag = it.tag.as_ref().map(|tag| format!(", tag = \"type\", rename = {tag:?}"));
    let tag = tag.unwrap_or_default();
    let fields: String = it.fields.iter().map(|field| member(&it.name, field)).collect();
    format!(
        "{}#[derive(Debug, Clone, PartialEq{empty}, Serialize, Deserialize)]\n\
         #[serde(rename_all = \"camelCase\"{tag})]\n{closed}pub struct {} {{\n{fields}}}\n",
        about(&it.about),
        it.name,
    )
}

fn member(owner: &str, field: &Field) -> String {
    let kind = spelled(&field.kind);
    let (attribute, kind) = if field.required {
        (String::new(), kind)
    } else {
        // Null is one of the values of a field that may hold any.
        let reader = if field.kind == ANY { "deserialize_with = \"present\", " } else { "" };
        let writer = "skip_serializing_if = \"Option::is_none\"";
        (format!("#[serde(default, {reader}{writer})]\n"), format!("Option<{kind}>"))
    };
    let doc = about(&fields::about(owner, &field.name));
    format!("{doc}{attribute}pub {}: {kind},\n", snake(&field.name))
}

fn spelled(kind: &Kind) -> String {
    match kind {
        Kind::Simple(name) => (*name).to_owned(),
        Kind::Named(name) => name.clone(),
        Kind::List(items) => format!("Vec<{}>", spelled(items)),
    }
}

fn union(it: &Union, structs: &[Struct]) -> String {
    let member = |(tag, name): &(String, String)| {
        let large = structure_of(name, structs).fields.len() >= LARGE;
        let kind = if large { format!("Box<{name}>") } else { name.clone() };
        format!("        {tag:?} = {name}({kind}),\n")
    };
    let members: String = it.members.iter().map(member).collect();
    let about = indented(&about(&it.about));
    let mut code = format!("open_union! {{\n{about}    {} {{\n{members}    }}\n}}\n\n", it.name);
    if it.numbered {
        code += &numbers(it, structs);
    }
    code
}

fn structure_of<'a>(name: &str, structs: &'a [Struct]) -> &'a Struct {
    structs.iter().find(|it| it.name == name).expect("a member of a union is a struct")
}

/// Tells `seq` and `choice` of any member.
fn numbers(it: &Union, structs: &[Struct]) -> String {
    let arms = |field: &str| -> String {
        let arm = |(_, name): &(String, String)| {
            let fields = &structure_of(name, structs).fields;
            let required = fields.iter().any(|it| it.name == field && it.required);
            let value = format!("it.{field}");
            let value = if required { format!("Some({value})") } else { value };
            format!("Self::{name}(it) => {value},\n")
        };
        it.members.iter().map(arm).collect()
    };
    format!(
        "impl {} {{\n\
         /// Its number in the stream: 1, 2, 3 ... Absent in calls of `tool/classify`.\n\
         #[must_use]\npub fn seq(&self) -> Option<i64> {{\nmatch self {{\n{}\
         Self::Unknown(value) => value.get(\"seq\").and_then(Value::as_i64),\n}}\n}}\n\n\
         /// The provider's index of the choice that it belongs to.\n\
         #[must_use]\npub fn choice(&self) -> i64 {{\nlet choice = match self {{\n{}\
         Self::Unknown(value) => value.get(\"choice\").and_then(Value::as_i64),\n}};\n\
         choice.unwrap_or(0)\n}}\n}}\n",
        it.name,
        arms("seq"),
        arms("choice"),
    )
}

fn spelling(name: &str, choices: &[Spelling]) -> String {
    let variant = |it: &Spelling| {
        let kind = spelled(&it.kind);
        format!("/// [`{kind}`]\n{}({kind}),\n", it.name)
    };
    let conversion = |it: &Spelling| {
        let kind = spelled(&it.kind);
        format!(
            "impl From<{kind}> for {name} {{\nfn from(it: {kind}) -> Self {{\n\
             Self::{}(it)\n}}\n}}\n\n",
            it.name
        )
    };
    let variants: String = choices.iter().map(variant).collect();
    let conversions: String = choices.iter().map(conversion).collect();
    format!(
        "/// One thing in any of these spellings.\n\
         #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]\n#[serde(untagged)]\n\
         pub enum {name} {{\n{variants}}}\n\n{conversions}"
    )
}

fn alias(name: &str, text: &str) -> String {
    format!("{}pub type {name} = Map<String, Value>;\n", about(text))
}

fn enumeration(name: &str, values: &[String]) -> String {
    let values = values.iter().filter(|it| *it != "other"); // that is what `Other` is
    let values: String = values.map(|it| format!("        {} = {it:?},\n", pascal(it))).collect();
    let about = indented(&about(&fields::about_enum(name)));
    format!("open_enum! {{\n{about}    {name} {{\n{values}    }}\n}}\n")
}

/// Inside of macros the layout is not rustfmt's.
fn indented(lines: &str) -> String {
    lines.lines().map(|it| format!("    {it}\n")).collect()
}

fn about(text: &str) -> String {
    text.lines().map(|line| format!("/// {line}").trim_end().to_owned() + "\n").collect()
}
