"""Response templates: a model's own parser, handed over by the host as data.

`response_template` turns a template into a dialect, `family_templates` writes a
family as a template. The room is loaded when a host gives a template.
"""
