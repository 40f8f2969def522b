"""HTML for people: templates, styles and scripts, charts, and pages that are one file."""
