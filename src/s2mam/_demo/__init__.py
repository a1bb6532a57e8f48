"""The example behind ``s2mam demo``: a real table with junk columns and few labels."""
