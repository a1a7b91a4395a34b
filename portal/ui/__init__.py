"""What pages are drawn with: charts, pills, gauges. Knows no app."""
