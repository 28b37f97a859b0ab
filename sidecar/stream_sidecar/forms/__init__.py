"""Written forms: calls, results and tokens that a model wrote as text.

`form` describes a form. `grammar` has the cursor with which a form's grammar reads.
`candidate` reads text that may be one of several forms, with all their grammars at
once.
"""
