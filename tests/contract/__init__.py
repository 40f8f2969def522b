"""What every store promises."""
