"""JSON-RPC over stdio: ``connection`` gives every request exactly one answer.

``transport`` owns standard input and output, ``lifetime`` ends the process with its
parent; nothing here knows what a method means.
"""
