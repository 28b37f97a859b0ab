"""Tool calls: from fragments to classified calls.

``assemble`` joins fragments into calls: ``arguments`` collects the text of their
arguments, ``snapshots`` finds deltas that repeat it, and ``judging`` decides whether it
is complete. ``classify`` decides who runs a call and whether the host may run it,
``kinds`` what a tool does, and ``checks`` compares arguments with their declaration.
"""
