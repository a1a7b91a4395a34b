"""Run the kit: `python -m assay_conformance --help`."""

from .command import main

raise SystemExit(main())
