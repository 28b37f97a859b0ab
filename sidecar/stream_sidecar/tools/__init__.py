"""Tool calls: from fragments to classified calls.

``arguments`` collects argument text, ``snapshots`` knows what repeats it, ``judging``
says what it is worth, ``assemble`` joins fragments into calls, ``kinds`` knows what a
tool does, ``checks`` compares arguments with what was declared, and
``classify`` says who runs a call and whether the host may run it.
"""
