"""The meaning of printed text: values, units, ranges, dates and labels."""
