"""What a written form is: a call, a result or a token that a model wrote as text.

``form`` describes one, ``grammar`` has the cursor that a form's grammar reads with,
``candidate`` reads the text that may be one of several forms side by side.
"""
