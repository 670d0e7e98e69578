import sys

from probe_export.cli import main

sys.exit(main())
