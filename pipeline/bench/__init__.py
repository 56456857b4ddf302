"""How fast the program is on this machine: whole runs of standard cases, and the steps of a level one by one.

Cases are processes of their own, so that their time and their peak memory are those of a user's command. What starts
them is given the command line to use; nothing here knows the commands. Imports :mod:`pipeline.level`,
:mod:`pipeline.spaces` and the storage, whose functions it times; writes into a temporary directory alone.
"""
