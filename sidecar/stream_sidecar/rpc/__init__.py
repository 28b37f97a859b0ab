"""JSON-RPC over stdio: ``connection`` gives every request exactly one answer.

``transport`` owns standard input and output, and ``lifetime`` ends the process when its
parent ends. Nothing here knows what a method means.
"""
