//! The schema as Rust's structs, unions (distinguished by `type`) and enumerations.
//!
//! This module reads the forms that `stream-sidecar schema` writes, and panics on any other
//! form, so that a new form cannot become a wrong type unnoticed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::names;

/// Everything that becomes code, in the order of the schema.
pub(crate) struct Protocol {
    pub(crate) structs: Vec<Struct>,
    pub(crate) unions: Vec<Union>,
    pub(crate) enums: BTreeMap<String, Vec<String>>,
    pub(crate) spellings: BTreeMap<String, Vec<Spelling>>,
    pub(crate) aliases: Vec<(String, String)>,
}

pub(crate) struct Struct {
    pub(crate) name: String,
    pub(crate) about: String,
    /// The value of `type`, for members of a union.
    pub(crate) tag: Option<String>,
    pub(crate) fields: Vec<Field>,
    /// Whether hosts make it, so that it must be possible as a literal.
    pub(crate) given: bool,
    /// Whether it has a default: no field must be chosen.
    pub(crate) empty: bool,
}

pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) required: bool,
}

/// One of the forms in which a value may be given.
pub(crate) struct Spelling {
    pub(crate) name: String,
    pub(crate) kind: Kind,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    Simple(&'static str),
    List(Box<Kind>),
    Named(String),
}

pub(crate) struct Union {
    pub(crate) name: String,
    pub(crate) about: String,
    /// The `type` and the struct of each member.
    pub(crate) members: Vec<(String, String)>,
    /// Whether all members have a `seq`.
    pub(crate) numbered: bool,
}

pub(crate) const TEXT: Kind = Kind::Simple("String");
pub(crate) const ANY: Kind = Kind::Simple("Value");
pub(crate) const OBJECT: Kind = Kind::Simple("Map<String, Value>");

/// Fields that the client does not need: it ignores notifications of progress.
const LEFT_OUT: [(&str, &str); 1] = [("HistoryParams", "workDoneToken")];

pub(crate) fn read(schema: &Value, methods: &Value) -> Protocol {
    let definitions = schema["$defs"].as_object().expect("definitions");
    let given = reachable(schema, roots(methods));
    let mut reader = Reader { schema, enums: BTreeMap::new(), spellings: BTreeMap::new() };
    let (mut structs, mut unions, mut aliases) = (Vec::new(), Vec::new(), Vec::new());
    for (name, definition) in definitions {
        if name.starts_with("Unknown") {
            continue;
        }
        if definition.get("oneOf").is_some() {
            unions.push(reader.union(name, definition));
        } else if definition.get("properties").is_none() && definition.get("anyOf").is_some() {
            aliases.push((name.clone(), about(definition)));
        } else {
            let given = given.contains(name);
            structs.push(reader.structure(name, definition, given));
        }
    }
    mark_empty(&mut structs);
    Protocol { structs, unions, enums: reader.enums, spellings: reader.spellings, aliases }
}

struct Reader<'a> {
    schema: &'a Value,
    enums: BTreeMap<String, Vec<String>>,
    /// Values that may be given in several forms.
    spellings: BTreeMap<String, Vec<Spelling>>,
}

impl Reader<'_> {
    fn structure(&mut self, name: &str, definition: &Value, given: bool) -> Struct {
        let required = strings(&definition["required"]);
        let tag = definition.pointer("/properties/type/const").and_then(Value::as_str);
        let properties = definition["properties"].as_object();
        let fields = properties.into_iter().flatten().filter(|(key, _)| {
            (*key != "type" || tag.is_none()) && !LEFT_OUT.contains(&(name, key))
        });
        let fields = fields.map(|(key, property)| Field {
            name: key.clone(),
            kind: self.kind(name, key, property),
            required: required.contains(key),
        });
        let fields = fields.collect();
        Struct {
            name: name.into(),
            about: about(definition),
            tag: tag.map(Into::into),
            fields,
            given,
            empty: false,
        }
    }

    fn union(&self, name: &str, definition: &Value) -> Union {
        let members = list(&definition["oneOf"]).iter().map(reference);
        let members: Vec<_> = members.filter(|it| !it.starts_with("Unknown")).collect();
        let property = |member: &str, path: &str| {
            self.schema.pointer(&format!("/$defs/{member}/properties/{path}")).cloned()
        };
        let tagged = |member: &String| {
            let tag = property(member, "type/const").expect("a member has its type");
            (tag.as_str().expect("text").to_owned(), member.clone())
        };
        Union {
            name: name.into(),
            about: about(definition),
            numbered: members.iter().all(|it| property(it, "seq").is_some()),
            members: members.iter().map(tagged).collect(),
        }
    }

    fn kind(&mut self, owner: &str, key: &str, property: &Value) -> Kind {
        let values = property.get("x-open-enum").or_else(|| property.get("enum"));
        if let Some(values) = values {
            return Kind::Named(self.enumeration(owner, key, strings(values)));
        }
        if property.get("const").is_some() {
            return TEXT;
        }
        if property.get("$ref").is_some() {
            return Kind::Named(reference(property));
        }
        if let Some(choices) = property.get("anyOf") {
            return self.choice(owner, key, choices);
        }
        let types: Vec<_> = types(property).into_iter().filter(|it| it != "null").collect();
        match types.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["string"] => TEXT,
            ["integer"] => Kind::Simple("i64"),
            ["number"] => Kind::Simple("f64"),
            ["boolean"] => Kind::Simple("bool"),
            ["object"] => OBJECT,
            ["array"] => {
                let items = property.get("items").unwrap_or(&Value::Null);
                Kind::List(Box::new(self.kind(owner, key, items)))
            }
            _ => ANY,
        }
    }

    /// One type and null, or several forms of the same value.
    fn choice(&mut self, owner: &str, key: &str, choices: &Value) -> Kind {
        let choices = list(choices).iter().filter(|it| it["type"] != "null");
        let mut choices: Vec<_> = choices.map(|it| self.spelling(owner, key, it)).collect();
        if choices.len() == 1 {
            return choices.remove(0).kind;
        }
        let name = match &choices[0].kind {
            Kind::Named(first) if *first == choices[0].name => format!("Any{first}"),
            _ => names::pascal(key),
        };
        self.spellings.insert(name.clone(), choices);
        Kind::Named(name)
    }

    /// The name of a form: a type has its own name, others are `List` and `Word`.
    fn spelling(&mut self, owner: &str, key: &str, choice: &Value) -> Spelling {
        let kind = self.kind(owner, key, choice);
        let name = match &kind {
            Kind::Named(name) if choice.get("$ref").is_some() => name.clone(),
            Kind::Named(_) => "Word".into(),
            Kind::List(_) => "List".into(),
            Kind::Simple(_) => panic!("{owner}.{key} may be anything"),
        };
        Spelling { name, kind }
    }

    /// The name of a field's enumeration. Enumerations with the same name become one, with the
    /// values of both.
    fn enumeration(&mut self, owner: &str, key: &str, values: Vec<String>) -> String {
        let same = |it: &&String| {
            self.enums[*it].iter().collect::<BTreeSet<_>>() == values.iter().collect()
        };
        let name = names::of_enum(owner, key).map(Into::into);
        let name = name.or_else(|| self.enums.keys().find(same).cloned());
        let name = name.unwrap_or_else(|| format!("{owner}{}", names::pascal(key)));
        let known = self.enums.entry(name.clone()).or_default();
        known.extend(values.into_iter().filter(|it| !known.contains(it)).collect::<Vec<_>>());
        name
    }
}

/// Marks structs that have a default. A struct has one if its required fields have one, so this
/// needs several rounds.
fn mark_empty(structs: &mut [Struct]) {
    loop {
        let empty = |kind: &Kind, all: &[Struct]| match kind {
            Kind::Simple(_) | Kind::List(_) => true,
            Kind::Named(name) => all.iter().any(|it| it.name == *name && it.empty),
        };
        let found = structs.iter().position(|it| {
            !it.empty
                && it.fields.iter().all(|field| !field.required || empty(&field.kind, structs))
        });
        match found {
            Some(number) => structs[number].empty = true,
            None => return,
        }
    }
}

fn roots(methods: &Value) -> Vec<String> {
    let rows = methods["methods"].as_object().expect("methods").values();
    let params = rows.map(|it| it["params"].as_str().expect("params").to_owned());
    params.chain(["ConnectionOptions".to_owned()]).collect()
}

fn reachable(schema: &Value, mut open: Vec<String>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    while let Some(name) = open.pop() {
        if found.insert(name.clone()) {
            references(&schema["$defs"][&name], &mut open);
        }
    }
    found
}

fn references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(map) if map.contains_key("$ref") => found.push(reference(value)),
        Value::Object(map) => map.values().for_each(|it| references(it, found)),
        Value::Array(items) => items.iter().for_each(|it| references(it, found)),
        _ => {}
    }
}

fn reference(value: &Value) -> String {
    let text = value["$ref"].as_str().expect("a reference");
    text.strip_prefix("#/$defs/").expect("to a definition").to_owned()
}

fn about(definition: &Value) -> String {
    definition["description"].as_str().unwrap_or_default().to_owned()
}

fn types(property: &Value) -> Vec<String> {
    match &property["type"] {
        Value::String(one) => vec![one.clone()],
        several => strings(several),
    }
}

fn strings(value: &Value) -> Vec<String> {
    list(value).iter().filter_map(Value::as_str).map(Into::into).collect()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
