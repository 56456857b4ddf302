"""The job directory: its levels and its ledger, what is being worked on, and its restoration."""
