// Made by scripts/generate-types.mjs from ../schema; changes belong there.

/** The endpoints of providers whose responses can be cleaned. `path` is how the path of an address ends; {model} in it is a name without `/` and `:`, which else stands in the request. A response that streams has server-sent events, or this `framing`. `declarations`: where the groups in `tools` have their functions. */
export const ENDPOINTS = [
  {"path":"/chat/completions","wire":"openai-chat"},
  {"path":"/responses","wire":"openai-responses"},
  {"path":"/messages","wire":"anthropic"},
  {"path":"/models/{model}:generateContent","wire":"gemini","declarations":"functionDeclarations"},
  {"path":"/models/{model}:streamGenerateContent","wire":"gemini","framing":"json-array","declarations":"functionDeclarations"},
] as const;
